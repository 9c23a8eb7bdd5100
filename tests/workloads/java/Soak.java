// SPDX-License-Identifier: Apache-2.0
/**
 * A short life with a bit of everything that is probed: collections, threads, contended monitors,
 * parks, exceptions, class loading. Prints a number that is the same in every run.
 */
public class Soak {
    static final Object LOCK = new Object();
    static final byte[][] KEPT = new byte[512][];
    static long sum;

    static void allocate(int seed) {
        for (int i = 0; i < 20000; i++) {
            byte[] made = new byte[256 + (i & 1023)];
            if ((i & 15) == 0) {
                KEPT[(i >> 4) & 511] = made;
            }
            if ((i & 255) == 0) {
                synchronized (LOCK) {
                    sum += seed + i;
                    Thread.yield();
                }
            }
        }
    }

    static int fail(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("expected");
        }
        return fail(depth - 1) + 1;
    }

    static void raise() {
        for (int i = 0; i < 100; i++) {
            try {
                fail(5);
            } catch (IllegalStateException e) {
                synchronized (LOCK) {
                    sum++;
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread[] all = new Thread[4];
        for (int i = 0; i < all.length; i++) {
            int seed = i;
            all[i] = new Thread(() -> {
                allocate(seed);
                raise();
            }, "a worker with a long name " + i);
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        System.gc();
        System.out.println(sum);
    }
}
