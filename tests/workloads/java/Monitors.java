// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;

/**
 * Threads that wait for monitors of objects of one known class each, all the time. The name of each
 * such thread ends with the name of the class. One thread makes garbage, another collects it, so
 * that the objects move.
 *
 * It runs until its input ends.
 */
public final class Monitors {
    static volatile Object sink;

    private Monitors() {
    }

    /** A class of the program. */
    static final class Account {
        final long[] moved = new long[4];
    }

    /** Another one. */
    static class Order {
        final Account of = new Account();
    }

    /** One thread holds the monitor most of the time, and two others want it. */
    static void contend(Object monitor, String name) {
        Waits.start("helper of " + name, () -> {
            synchronized (monitor) {
                Thread.sleep(3);
            }
            Thread.yield();
        });
        for (int i = 1; i <= 2; i++) {
            Waits.start("enters " + i + " " + name, () -> {
                synchronized (monitor) {
                    sink = monitor;
                }
            });
        }
    }

    /** Threads that are notified want the monitor again. */
    static void contendAgain(Object monitor, String name) {
        Waits.start("helper of " + name, () -> {
            synchronized (monitor) {
                monitor.notifyAll();
                Thread.sleep(3);
            }
            Thread.sleep(1);
        });
        Waits.start("again 1 " + name, () -> {
            synchronized (monitor) {
                monitor.wait();
            }
        });
    }

    public static void main(String[] args) throws Exception {
        final int garbage = Integer.parseInt(args[0]);

        contend(new Object(), "java.lang.Object");
        contend(new Account(), "Monitors$Account");
        contend(new Order(), "Monitors$Order");
        contend(new ArrayList<String>(), "java.util.ArrayList");
        contend(new byte[0], "byte[]");
        contend(new Account[2][0], "Monitors$Account[][]");
        contend(Order.class, "java.lang.Class");
        contendAgain(new StringBuilder(), "java.lang.StringBuilder");
        Waits.start("makes garbage", () -> {
            List<byte[]> kept = new ArrayList<>();

            for (int i = 0; i < 50; i++) {
                kept.add(new byte[garbage * 1024]);
            }
            sink = kept;
            Thread.sleep(2);
        });
        Waits.start("collects garbage", () -> {
            System.gc();
            Thread.sleep(100);
        });
        System.out.println("runs");
        while (System.in.read() >= 0) {
            sink = args;
        }
    }
}
