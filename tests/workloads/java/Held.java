// SPDX-License-Identifier: Apache-2.0

import java.util.Scanner;

/** For each number of its input, a thread waits so many ms for a monitor; then it prints "held". */
public final class Held {
    private Held() {
    }

    /** Its monitor is wanted. */
    static final class Lock {
        long entered;
    }

    public static void main(String[] args) throws Exception {
        Scanner in = new Scanner(System.in);
        Lock lock = new Lock();

        System.out.println("runs");
        while (in.hasNextInt()) {
            int time = in.nextInt();
            Thread waits;

            synchronized (lock) {
                waits = new Thread(() -> {
                    synchronized (lock) {
                        lock.entered++;
                    }
                }, "waits for the lock");
                waits.start();
                Thread.sleep(time);
            }
            waits.join();
            System.out.println("held");
        }
    }
}
