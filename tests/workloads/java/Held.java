// SPDX-License-Identifier: Apache-2.0

import java.util.Scanner;
import java.util.concurrent.SynchronousQueue;

/** For each number of its input, a thread waits so many ms for a monitor; then it prints "held". */
public final class Held {
    private Held() {
    }

    /** Its monitor is wanted. */
    static final class Lock {
        long entered;
    }

    /** Take the monitor whenever asked to, and say when that is done. */
    private static void enterOften(Lock lock, SynchronousQueue<Object> asked,
            SynchronousQueue<Object> done) {
        try {
            for (;;) {
                Object next = asked.take();

                synchronized (lock) {
                    lock.entered++;
                }
                done.put(next);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Scanner in = new Scanner(System.in);
        Lock lock = new Lock();
        SynchronousQueue<Object> asked = new SynchronousQueue<>(), done = new SynchronousQueue<>();
        // one for all waits: the recorder learns of a new thread some time after its start
        Thread waits = new Thread(() -> enterOften(lock, asked, done), "waits for the lock");

        waits.setDaemon(true);
        waits.start();
        System.out.println("runs");
        while (in.hasNextInt()) {
            int time = in.nextInt();

            synchronized (lock) {
                asked.put(lock);
                Thread.sleep(time);
            }
            done.take();
            System.out.println("held");
        }
    }
}
