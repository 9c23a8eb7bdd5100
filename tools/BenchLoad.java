// SPDX-License-Identifier: Apache-2.0
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.locks.LockSupport;

/*
 * A Java program for `make bench`.
 *
 *   BenchLoad WORK             for each line N of stdin: N rounds of the same work; prints ns.
 *                              WORK: plain, objects and calls; garbage, most of them are soon
 *                              unreachable; park, two threads that unpark each other in turn;
 *                              monitors, four threads that all want the same one
 *   BenchLoad deep KIND N FILE for ever: a stack of N Java frames, whose innermost one is
 *                              Thread.holdsLock(), and how many ns each call of it takes, into FILE
 *
 * KIND: plain, one method that calls itself; mixed, two methods in turn; new, the methods of the
 * class NewCode, which bench_java.py writes; cold, the same, and all caches are emptied in between.
 */
public class BenchLoad {
    /* plain work: a tree of objects of four classes, some 30 calls deep */
    interface Node { long visit(int depth, long seed); }
    static class Sum implements Node {
        public long visit(int depth, long seed) { return next(depth, seed) + 1; }
    }
    static class Text implements Node {
        public long visit(int depth, long seed) {
            return ("node" + (seed & 255)).hashCode() + next(depth, seed);
        }
    }
    static class Table implements Node {
        final Map<Long, Long> seen = new HashMap<>();
        public long visit(int depth, long seed) {
            return seen.merge(seed & 1023, 1L, Long::sum) + next(depth, seed);
        }
    }
    static class Sorted implements Node {
        public long visit(int depth, long seed) {
            List<Long> list = new ArrayList<>();
            for (int i = 0; i < 12; i++)
                list.add(seed >>> i);
            list.sort((a, b) -> Long.compare(a & 0xff, b & 0xff));
            return list.get(0) + next(depth, seed);
        }
    }
    static final Node[] NODES = {new Sum(), new Text(), new Table(), new Sorted()};
    static long next(int depth, long seed) {
        if (depth == 0)
            return seed;
        long s = (seed ^ seed >>> 29) * 0x9e3779b97f4a7c15L;
        return NODES[(int) (s >>> 62)].visit(depth - 1, s);
    }
    static long sink;
    static void round() {
        for (int i = 0; i < 400; i++)
            sink += next(14, i * 0x5851f42d4c957f2dL + 1);
    }
    /* A list of which every eighth object stays until it is replaced. */
    static final Object[] KEPT = new Object[1 << 16];
    static void garbage() {
        for (int i = 0; i < 20000; i++) {
            byte[] made = new byte[64 + (i & 255)];
            if ((i & 7) == 0)
                KEPT[(int) (sink++ & KEPT.length - 1)] = made;
        }
    }
    static volatile Thread turn;
    static void takeTurns(Thread other, int times) {
        for (int i = 0; i < times; i++) {
            while (turn != Thread.currentThread())
                LockSupport.park();
            turn = other;
            LockSupport.unpark(other);
        }
    }
    static void park() throws Exception {
        Thread first = Thread.currentThread();
        Thread other = new Thread(() -> takeTurns(first, 1000));
        turn = first;
        other.start();
        takeTurns(other, 1000);
        other.join();
    }
    static void hold(int times) {
        for (int i = 0; i < times; i++)
            synchronized (KEPT) {
                sink += next(6, i);
                if ((i & 3) == 0)
                    Thread.yield(); /* the others find it taken */
            }
    }
    static void monitors() throws Exception {
        Thread[] all = new Thread[4];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Thread(() -> hold(500));
            all[i].start();
        }
        for (Thread thread : all)
            thread.join();
    }

    interface Work { void round() throws Exception; }
    static Work workOf(String name) {
        switch (name) {
        case "garbage": return BenchLoad::garbage;
        case "park": return BenchLoad::park;
        case "monitors": return BenchLoad::monitors;
        default: return BenchLoad::round;
        }
    }
    static void work(Work of, int warm) throws Exception {
        for (int i = 0; i < warm; i++)
            of.round();
        System.out.println(ProcessHandle.current().pid());
        Scanner in = new Scanner(System.in);
        while (in.hasNextInt()) {
            int rounds = in.nextInt();
            long begin = System.nanoTime();
            for (int i = 0; i < rounds; i++)
                of.round();
            System.out.println(System.nanoTime() - begin);
        }
    }

    /* deep */
    static final int ENTRIES = 1 << 16;
    static final Object LOCK = new Object();
    static MappedByteBuffer out;
    static boolean held;
    static int count;
    static int leaf() {
        long begin = System.nanoTime();
        held = Thread.holdsLock(LOCK);
        long end = System.nanoTime();
        out.putLong(8 + 8 * (count & ENTRIES - 1), end - begin);
        out.putLong(0, ++count);
        return 0;
    }
    static int down(int depth) { return depth == 0 ? leaf() : down(depth - 1) + 1; }
    static int inner(int depth) { return depth == 0 ? leaf() : outer(depth - 1) + 1; }
    static int outer(int depth) { return depth == 0 ? leaf() : inner(depth - 1) + 1; }
    interface Call { int call(int depth, long seed); }
    static Call callOf(String kind) throws Exception {
        if (kind.equals("plain"))
            return (depth, seed) -> down(depth);
        if (kind.equals("mixed"))
            return (depth, seed) -> outer(depth);
        return (Call) Class.forName("NewCode").getMethod("of").invoke(null);
    }
    static long[] large = {0};
    static void pause() {
        if (large.length > 1) {
            for (int i = 0; i < large.length; i += 8)
                sink += large[i]++;
        } else {
            long until = System.nanoTime() + 20000;
            while (System.nanoTime() < until)
                ;
        }
    }
    static void deep(String kind, int depth, String file) throws Exception {
        FileChannel channel = FileChannel.open(Paths.get(file), StandardOpenOption.READ,
                                               StandardOpenOption.WRITE,
                                               StandardOpenOption.CREATE);
        out = channel.map(FileChannel.MapMode.READ_WRITE, 0, 8 + 8L * ENTRIES);
        out.order(ByteOrder.nativeOrder());
        /* main(), deep(), the lambda, the method at depth 0, leaf(), holdsLock() */
        Call call = callOf(kind);
        long seed = 1;
        for (int i = 0; i < 40000; i++)
            call.call(depth - 6, seed += 0x9e3779b97f4a7c15L);
        if (kind.equals("cold"))
            large = new long[8 << 20];
        System.out.println(new java.io.File("/proc/thread-self").getCanonicalFile().getName());
        for (;;) {
            call.call(depth - 6, seed += 0x9e3779b97f4a7c15L);
            pause();
        }
    }

    public static void main(String[] args) throws Exception {
        if (!args[0].equals("deep"))
            work(workOf(args[0]), args[0].equals("plain") ? 4000 : 100);
        else
            deep(args[1], Integer.parseInt(args[2]), args[3]);
    }
}
