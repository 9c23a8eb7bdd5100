// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import jdk.test.whitebox.WhiteBox;

/**
 * Frames of every kind: the thread "truth" does the work of each kind that is an argument, in turn
 * and without end; that of virtual threads is done by their carriers. Prints "ready" when it is
 * warm. The test chooses how methods of the nested classes are compiled.
 */
public class Truth {
    static final long TURN = 10_000_000; // ns
    static final int ROUNDS = 5;
    static volatile long sink;

    interface Body {
        void run() throws Throwable;
    }

    static long spin(long n) {
        long x = n;
        for (int i = 0; i < 3000; i++) {
            x = x * 31 + (i ^ x >>> 7);
        }
        return x;
    }

    /** Never compiled. */
    static class Interpreted {
        static long spin(long n) {
            long x = n;
            for (int i = 0; i < 300; i++) {
                x = x * 31 + i;
            }
            return x;
        }

        static long add(long a, int b, double c, Object d) { return a + b + (long) c; }

        static long down(int depth, long n) {
            return depth == 0 ? spin(n) : add(down(depth - 1, n + 1), depth, 1.5, null);
        }

        static long throughCompiled(int depth, long n) {
            return depth == 0 ? n
                    : 1 + Optimized.throughInterpreted(depth - 1, n, 2, 3, 4, 5, 6, 7, 8.0);
        }
    }

    /** Compiled by C1 only. */
    static class Client {
        static int[] numbers = new int[64];

        static long spin(long n) {
            long x = n;
            for (int i = 0; i < 3000; i++) {
                x = x * 31 + numbers[i & 63];
            }
            return x;
        }

        static long leaf(long a, int b) { return a * b + 3; }

        static long down(int depth, long n) {
            return depth == 0 ? spin(n) : leaf(down(depth - 1, n + 1), depth);
        }
    }

    /** Compiled by C2, not inlined. */
    static class Optimized {
        static long leaf(long a, int b, int c, int d, int e, int f, int g, double h) {
            return a + b * c + d * e + f * g + (long) h;
        }

        static long down(int depth, long n) {
            return depth == 0 ? spin(n) : leaf(down(depth - 1, n + 1), depth, 1, 2, 3, 4, 5, 6.0);
        }

        static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

        static long throughInterpreted(int depth, long n, int a, int b, int c, int d, int e, int f,
                                       double g) {
            return depth == 0 ? n : 1 + Interpreted.throughCompiled(depth - 1, n + a + b);
        }
    }

    /** All but outer() and bottom() inlined. */
    static class Inlined {
        static long bottom(long n) { return spin(n); }

        static long leaf(long n) { return bottom(n) ^ n >>> 3; }

        static long middle(long n) { return leaf(n + 1) + leaf(n * 3); }

        long virtual(long n) { return middle(n) - 1; }

        static long outer(long n) {
            long sum = 0;
            Inlined object = new Inlined();

            for (int i = 0; i < 20; i++) {
                sum += object.virtual(n + i);
            }
            return sum;
        }
    }

    static class Native {
        static byte[] text = new byte[1 << 14], to = new byte[1 << 15];

        public static long target(Long n) { return Optimized.down(3, n); }

        static Method method;

        /** A native method of zlib, and one that calls Java again. */
        static void run() throws Throwable {
            Deflater d = new Deflater(1);
            Inflater i = new Inflater();

            d.setInput(text);
            d.finish();
            i.setInput(to, 0, d.deflate(to));
            i.inflate(text);
            i.end();
            d.end();
            text[(int) sink & 0x3fff] = (byte) sink;
            for (int k = 0; k < 50; k++) {
                sink += (Long) method.invoke(null, sink);
            }
        }
    }

    static class Deoptimized {
        static final WhiteBox BOX = new WhiteBox();
        static Method down, handle;
        static MethodHandle target;

        static void bottom() {
            for (int i = 0; i < 2; i++) {
                BOX.deoptimize(down);
                BOX.deoptimize(handle);
            }
            for (int i = 0; i < 600; i++) {
                sink = spin(sink);
            }
        }

        static long down(int depth, long n) throws Throwable {
            if (depth == 0) {
                bottom();
                return n;
            }
            return depth % 3 == 0 ? handle(depth, n) + depth : down(depth - 1, n + 1) + depth;
        }

        /** Returns to the handler of method handles' call sites. */
        static long handle(int depth, long n) throws Throwable {
            return (long) target.invokeExact(depth - 1, n) + depth;
        }

        static void run() throws Throwable {
            int level = (sink & 4) == 0 ? 4 : 1;

            BOX.compile(down, level);
            BOX.compile(handle, level);
            sink += down(10, sink);
        }
    }

    static class Lambda {
        static MethodHandle[] handles;
        static LongUnaryOperator[] operators = {
            n -> spin(n) + 1, Truth::spin, n -> Optimized.down(2, n),
        };

        static void run() throws Throwable {
            for (int i = 0; i < 60; i++) {
                sink += (long) handles[i % handles.length].invokeExact(sink);
                sink += operators[i % 3].applyAsLong(sink);
            }
            sink += LongStream.range(0, 200).map(operators[0]).filter(x -> (x & 1) == 0).sum();
        }

        static long bound(Object o, long n) { return spin(n); }
    }

    static class Thrown {
        static class Failure extends Exception {
            Failure(String text) { super(text); }
        }

        static long down(int depth, long n) throws Failure {
            if (depth == 0) {
                throw new Failure("n");
            }
            try {
                return down(depth - 1, n) + 1;
            } finally {
                sink += n;
            }
        }

        static void run() {
            for (int i = 0; i < 100; i++) {
                try {
                    sink += down(12 + i % 5, i);
                } catch (Failure e) {
                    sink += e.getStackTrace().length;
                }
                try {
                    sink += ((int[]) null)[i];
                } catch (NullPointerException e) {
                    sink++;
                }
            }
        }
    }

    static class Synchronized {
        static final Object LOCK = new Object();

        static synchronized long one(long n) { return two(n) + 1; }

        static long two(long n) {
            synchronized (LOCK) {
                return n + sink;
            }
        }

        static synchronized long interpreted(long n) { return n + 3; }

        static void run() {
            for (int i = 0; i < 2000; i++) {
                sink += one(i) + interpreted(i);
            }
        }
    }

    static class Virtual {
        static long down(int depth, long n) {
            return depth == 0 ? bottom(n) : down(depth - 1, n + 1) + depth;
        }

        /** Only the innermost frames return from the heap behind park(). */
        static long bottom(long n) {
            LockSupport.parkNanos(100_000);
            for (int i = 0; i < 300; i++) {
                n = spin(n);
            }
            return n;
        }

        static void run() throws Throwable {
            Runnable body = () -> {
                for (int i = 0; i < 20; i++) {
                    for (int k = 0; k < 200; k++) {
                        sink += spin(k);
                    }
                    sink += down(20, i);
                }
            };
            ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, body)).join();
        }
    }


    static void prepare() throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodType one = MethodType.methodType(long.class, long.class);

        Arrays.fill(Native.text, (byte) 'x');
        Native.method = Native.class.getMethod("target", Long.class);
        Deoptimized.down = Deoptimized.class.getDeclaredMethod("down", int.class, long.class);
        Deoptimized.handle = Deoptimized.class.getDeclaredMethod("handle", int.class, long.class);
        Deoptimized.target = lookup.findStatic(Deoptimized.class, "down",
                MethodType.methodType(long.class, int.class, long.class));
        MethodHandle spin = lookup.findStatic(Truth.class, "spin", one);
        Lambda.handles = new MethodHandle[] {
            spin,
            MethodHandles.filterReturnValue(spin, spin),
            MethodHandles.insertArguments(lookup.findStatic(Lambda.class, "bound",
                    MethodType.methodType(long.class, Object.class, long.class)), 0, "x"),
            lookup.findStatic(Interpreted.class, "spin", one),
        };
    }

    static Body bodyOf(String kind) throws Throwable {
        switch (kind) {
            case "interpreted": return () -> sink += Interpreted.down(12, sink);
            case "c1": return () -> sink += Client.down(12, sink);
            case "c2": return () -> sink += Optimized.down(12, sink) + Optimized.fib(16);
            case "inlined": return () -> sink += Inlined.outer(sink);
            case "adapters": return () -> sink += Interpreted.throughCompiled(20, sink);
            case "native": return Native::run;
            case "deoptimized": return Deoptimized::run;
            case "lambda": return Lambda::run;
            case "thrown": return Thrown::run;
            case "synchronized": return Synchronized::run;
            case "virtual": return Virtual::run;
            case "stubs": return () -> Mixed.round(1);
            default:
                Method run = Class.forName(kind.substring(0, 1).toUpperCase() + kind.substring(1))
                        .getDeclaredMethod("run");
                return () -> run.invoke(null);
        }
    }

    static void runFor(Body body, long ns) throws Throwable {
        long end = System.nanoTime() + ns;

        do {
            body.run();
        } while (System.nanoTime() < end);
    }

    static void runAll(Body[] bodies) {
        try {
            for (int round = 0;; round++) {
                for (Body body : bodies) {
                    runFor(body, TURN);
                }
                if (round == ROUNDS) {
                    System.out.println("ready");
                }
            }
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    public static void main(String[] args) throws Throwable {
        Body[] bodies = new Body[args.length];

        prepare();
        for (int i = 0; i < args.length; i++) {
            bodies[i] = bodyOf(args[i]);
        }
        new Thread(() -> runAll(bodies), "truth").start();
    }
}
