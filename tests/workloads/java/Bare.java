// SPDX-License-Identifier: Apache-2.0
/** Bare LIBRARY SECONDS: calls native methods of a library without unwind information. */
public class Bare {
    static long sink;

    static native long plain(long n);

    /** Has a frame whose size is known only when it runs. */
    static native long variable(long n);

    static long first(long n) { return plain(n) + variable(n); }

    public static void main(String[] args) {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);

        System.load(args[0]);
        while (System.nanoTime() < end) {
            sink += first(sink);
        }
    }
}
