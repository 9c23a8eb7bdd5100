// SPDX-License-Identifier: Apache-2.0
/*
 * Shares SECONDS SEED [LIBRARY [PROFILER OPTIONS]]: parts that run in random order, each of which
 * takes a known share of the CPU time: the thread reads its own clock before and after each. After
 * a warm-up, prints "begin" and waits for a line; then runs for so many seconds of CPU time, prints
 * as JSON the times (ns) of each part and how often it ran, and ends at the next line. LIBRARY has the native
 * methods (shares_jni.c). PROFILER is async-profiler's library, which runs meanwhile with OPTIONS.
 */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;
import java.util.function.LongUnaryOperator;

public class Shares {
	static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
	static final String[] NAMES = {"plain", "other", "lambda", "heavy", "light", "jni", "called"};
	/* Longest stretch of each part, in microseconds; the shortest is a quarter of it. */
	static final int[] LONGEST = {20000, 8000, 12000, 15000, 6000, 12000, 10000};
	static final LongUnaryOperator lambda = until -> {
		long sum = 7;

		while (System.nanoTime() < until)
			for (int i = 0; i < 1000; i++)
				sum = sum * 29 + (sum >>> 5);
		return sum;
	};

	static long plain(long until) {
		long sum = 1;

		while (System.nanoTime() < until)
			for (int i = 0; i < 1000; i++)
				sum = sum * 31 + (sum >>> 3);
		return sum;
	}

	static long other(long until) {
		long sum = 2;

		while (System.nanoTime() < until)
			for (int i = 0; i < 1000; i++)
				sum = sum * 37 ^ (sum >>> 7);
		return sum;
	}

	/* These may be inlined into loop(). */
	static class Inlined {
		static long heavy(long sum) {
			for (int i = 0; i < 3000; i++)
				sum = sum * 31 + (sum >>> 3);
			return sum;
		}

		static long light(long sum) {
			for (int i = 0; i < 1000; i++)
				sum = sum * 37 ^ (sum >>> 7);
			return sum;
		}
	}

	static long loop(boolean heavy, long until) {
		long sum = 3;

		while (System.nanoTime() < until)
			sum = heavy ? Inlined.heavy(sum) : Inlined.light(sum);
		return sum;
	}

	static native long jni(long until);

	/* Calls called(). */
	static native long upcall(long until);

	static long called(long until) {
		long sum = 4;

		while (System.nanoTime() < until)
			for (int i = 0; i < 1000; i++)
				sum = sum * 41 + (sum >>> 9);
		return sum;
	}

	static long run(int part, long until) {
		switch (part) {
		case 0:
			return plain(until);
		case 1:
			return other(until);
		case 2:
			return lambda.applyAsLong(until);
		case 3:
			return loop(true, until);
		case 4:
			return loop(false, until);
		case 5:
			return jni(until);
		default:
			return upcall(until);
		}
	}

	/* Run parts for a time (ns of the thread's clock); add up their times and stretches. */
	static void runParts(long time, Random random, int count, long[] times, long[] stretches) {
		long before = threads.getCurrentThreadCpuTime(), end = before + time;

		while (before < end) {
			int part = random.nextInt(count), longest = 1000 * LONGEST[part];
			long after;

			run(part, System.nanoTime() + longest / 4 + random.nextInt(longest / 4 * 3));
			after = threads.getCurrentThreadCpuTime();
			times[part] += after - before;
			stretches[part]++;
			before = after;
		}
	}

	static void profile(String library, String command) throws Exception {
		var profiler = Class.forName("one.profiler.AsyncProfiler");
		Object instance = profiler.getMethod("getInstance", String.class).invoke(null, library);

		profiler.getMethod("execute", String.class).invoke(instance, command);
	}

	public static void main(String[] args) throws Exception {
		long time = (long) (Double.parseDouble(args[0]) * 1e9);
		Random random = new Random(Long.parseLong(args[1]));
		boolean other = args.length > 4;
		int count = args.length > 2 ? NAMES.length : NAMES.length - 2;
		long[] times = new long[count], stretches = new long[count];

		if (args.length > 2)
			System.load(args[2]);
		runParts(1_000_000_000L, random, count, new long[count], new long[count]);
		System.out.println("begin");
		System.in.read();
		if (other)
			profile(args[3], "start," + args[4]);
		runParts(time, random, count, times, stretches);
		if (other)
			profile(args[3], "stop," + args[4]);
		System.out.print("{");
		for (int i = 0; i < count; i++)
			System.out.print((i > 0 ? ", \"" : "\"") + NAMES[i] + "\": [" + times[i] + ", "
				+ stretches[i] + "]");
		System.out.println("}");
		System.in.read();
	}
}
