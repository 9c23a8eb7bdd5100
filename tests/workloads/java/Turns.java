// SPDX-License-Identifier: Apache-2.0
/*
 * Turns SECONDS LOG [SEED]: two threads, turn-0 and turn-1, make a class, run it for a few
 * milliseconds, and drop it, again and again, with collections that unload classes between the
 * turns: the next class gets the memory of the last one. All names that belong to the turn number
 * 42 have the number 00000042 in them. Each line of the log is one turn: number of the thread,
 * number of the turn, its begin and its end (ns, CLOCK_MONOTONIC). Prints "ready" after some turns.
 *
 * Turns one NUMBER: print "ready", and run the class of one number without end.
 */
import java.io.BufferedWriter;
import java.io.FileWriter;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;

public class Turns {
	/* The template of classes; eight zeros are replaced by a number. */
	public static class T00000000 {
		public static long m00000000(long until) {
			LongUnaryOperator lambda = n -> p00000000(n, 3);
			long sum = 1;

			while (System.nanoTime() < until)
				sum = (sum & 64) == 0 ? lambda.applyAsLong(sum) : p00000000(sum, 2);
			return sum;
		}

		static long p00000000(long n, int depth) {
			if (depth > 0)
				return p00000000(n + 1, depth - 1);
			for (int i = 0; i < 500; i++)
				n = n * 31 + (n >>> 3);
			return n;
		}
	}

	/* The template of hidden classes, in which JDK 17 refuses lambdas. */
	public static class H00000000 {
		public static long m00000000(long until) {
			long sum = 1;

			while (System.nanoTime() < until)
				sum = p00000000(sum, 2);
			return sum;
		}

		static long p00000000(long n, int depth) {
			if (depth > 0)
				return p00000000(n + 1, depth - 1);
			for (int i = 0; i < 500; i++)
				n = n * 31 + (n >>> 3);
			return n;
		}
	}

	static class Loader extends ClassLoader {
		Class<?> define(byte[] bytes) {
			return defineClass(null, bytes, 0, bytes.length);
		}
	}

	static final int ALIVE = 4, TURNS_PER_COLLECTION = 12, READY = 50;
	static final AtomicInteger turns = new AtomicInteger();
	static byte[] ordinary, hidden;
	static BufferedWriter log;

	static byte[] template(String name) throws IOException {
		try (var in = Turns.class.getResourceAsStream("Turns$" + name + "00000000.class")) {
			return in.readAllBytes();
		}
	}

	static MethodHandle make(int number, boolean isHidden) throws Exception {
		var type = MethodType.methodType(long.class, long.class);
		var lookup = MethodHandles.lookup();
		Class<?> made;

		if (isHidden)
			made = lookup.defineHiddenClass(Numbered.copy(hidden, number), true).lookupClass();
		else
			made = new Loader().define(Numbered.copy(ordinary, number));
		return lookup.findStatic(made, String.format("m%08d", number), type);
	}

	static void run(int thread, long end, Random random) throws Throwable {
		MethodHandle[] alive = new MethodHandle[ALIVE];

		for (int done = 0; System.nanoTime() < end; done++) {
			int turn = turns.incrementAndGet();
			MethodHandle made = make(turn, random.nextBoolean());
			long begin = System.nanoTime();

			long unused = (long) made.invokeExact(begin + 200_000 + random.nextInt(4_000_000));
			String line = thread + " " + turn + " " + begin + " " + System.nanoTime() + "\n";

			alive[random.nextInt(ALIVE)] = random.nextBoolean() ? made : null;
			synchronized (log) {
				log.write(line);
			}
			if (done % TURNS_PER_COLLECTION == 0)
				System.gc();
			if (turn == READY)
				System.out.println("ready");
		}
	}

	static void runOne(int number) throws Throwable {
		MethodHandle made = make(number, number % 2 == 0);

		System.out.println("ready");
		while (true) {
			long unused = (long) made.invokeExact(System.nanoTime() + 20_000_000);

			Thread.sleep(5);
		}
	}

	public static void main(String[] args) throws Throwable {
		ordinary = template("T");
		hidden = template("H");
		if (args[0].equals("one")) {
			runOne(Integer.parseInt(args[1]));
			return;
		}

		long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
		long seed = args.length > 2 ? Long.parseLong(args[2]) : 1;
		Thread[] threads = new Thread[2];

		log = new BufferedWriter(new FileWriter(args[1]));
		for (int i = 0; i < threads.length; i++) {
			int number = i;

			threads[i] = new Thread(() -> {
				try {
					run(number, end, new Random(seed + number));
				} catch (Throwable e) {
					e.printStackTrace();
					System.exit(1);
				}
			}, "turn-" + i);
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
		log.close();
	}
}
