// SPDX-License-Identifier: Apache-2.0

/**
 * Collects garbage: 16 threads, whose names are longer than the 15 bytes that the kernel keeps,
 * allocate for some time. Most objects die young, some live for a while, and now and then a thread
 * requests a full collection.
 *
 * Arguments: seconds, full collections in that time. It begins when it can
 * read a byte.
 */
public final class Collect {
    static final int THREADS = 16;
    static final int KEPT = 64; // objects of each thread that live for a while
    static volatile Object sink;

    private Collect() {
    }

    static void allocate(long end) {
        Object[][] kept = new Object[KEPT][];
        long turn = 0;

        while (System.nanoTime() < end) {
            for (int i = 0; i < 200; i++) {
                sink = new byte[1024];
                if (i % 20 == 0) {
                    kept[(int) (turn++ % KEPT)] = new Object[512];
                }
            }
            Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        double seconds = Double.parseDouble(args[0]);
        int full = Integer.parseInt(args[1]);

        System.in.read();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        Thread[] threads = new Thread[THREADS];

        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(() -> allocate(end), "worker with a long name " + i);
            threads[i].start();
        }
        for (int i = 1; i <= full; i++) {
            long at = start + (long) (seconds * 1e9 * i / (full + 1));
            Thread.sleep(Math.max(0, (at - System.nanoTime()) / 1_000_000));
            System.gc();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
