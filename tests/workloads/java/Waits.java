// SPDX-License-Identifier: Apache-2.0

import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait in one known way each, all the time. The name of each thread begins with how it
 * waits. Threads named "helper ..." make that possible.
 *
 * It runs until its input ends.
 */
public final class Waits {
    static volatile long sink;

    private Waits() {
    }

    /** What a thread does over and over. */
    interface Turn {
        void run() throws Exception;
    }

    static void start(String name, Turn turn) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    turn.run();
                }
            } catch (Exception e) {
                throw new IllegalStateException(name, e);
            }
        }, name);

        thread.setDaemon(true);
        thread.start();
    }

    static void monitors() {
        Object entered = new Object();
        Object notified = new Object();
        Object timed = new Object();

        start("helper that holds a monitor", () -> {
            synchronized (entered) {
                Thread.sleep(8);
            }
            Thread.yield();
        });
        start("monitor: enters a synchronized block", () -> {
            synchronized (entered) {
                sink++;
            }
        });
        start("helper that notifies", () -> {
            Thread.sleep(5);
            synchronized (notified) {
                notified.notifyAll();
            }
        });
        start("object: waits until notified", () -> {
            synchronized (notified) {
                notified.wait();
            }
        });
        start("object: waits for a time", () -> {
            synchronized (timed) {
                timed.wait(6);
            }
        });
        start("object: joins a thread", () -> Thread.currentThread().join(7));
    }

    static void parks() {
        ReentrantLock lock = new ReentrantLock(true);
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);

        start("park: for a time", () -> LockSupport.parkNanos(5_000_000));
        start("helper that holds a lock", () -> {
            lock.lock();
            try {
                Thread.sleep(6);
            } finally {
                lock.unlock();
            }
        });
        start("park: takes a ReentrantLock", () -> {
            lock.lock();
            lock.unlock();
        });
        start("helper that fills a queue", () -> {
            Thread.sleep(5);
            queue.put(1);
        });
        start("park: takes from a queue", () -> sink += queue.take());
        start("park: polls an empty queue",
            () -> new ArrayBlockingQueue<Integer>(1).poll(7, TimeUnit.MILLISECONDS));
    }

    static void others() throws Exception {
        ServerSocket server = new ServerSocket(0);
        Socket client = new Socket("localhost", server.getLocalPort());
        Socket accepted = server.accept();
        Selector selector = Selector.open();

        start("sleep: Thread.sleep", () -> Thread.sleep(6));
        start("helper that writes", () -> {
            Thread.sleep(5);
            accepted.getOutputStream().write(1);
        });
        start("socket: reads", () -> client.getInputStream().read());
        start("poll: selects", () -> selector.select(6));
        start("safepoint: computes", () -> {
            long x = 1;

            for (int i = 0; i < 5_000_000; i++) {
                x = x * 31 + i;
            }
            sink = x;
        });
        start("helper that collects garbage", () -> {
            System.gc();
            Thread.sleep(20);
        });
    }

    public static void main(String[] args) throws Exception {
        monitors();
        parks();
        others();
        System.out.println("runs");
        while (System.in.read() >= 0) {
            sink++;
        }
    }
}
