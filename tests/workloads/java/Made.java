// SPDX-License-Identifier: Apache-2.0
/*
 * Makes exceptions and large arrays at known places. Each line of the input has three numbers: of
 * the exceptions that often() and seldom() make, and of the arrays that allocate() makes, each of
 * which is allocated in the slow path, since no buffer of a thread has room for it. Prints "made"
 * after each line, and ends with the input.
 */
import java.util.Scanner;

public class Made {
	static final int ARRAY_BYTES = 2 << 20;
	static final int CHUNK = 16;
	static Exception exception;
	static byte[] array;

	static void often(int count) {
		for (int i = 0; i < count; i++)
			exception = new IllegalStateException();
	}

	static void seldom(int count) {
		for (int i = 0; i < count; i++)
			inner();
	}

	static void inner() {
		try {
			throw new UnsupportedOperationException();
		} catch (UnsupportedOperationException e) {
			exception = e;
		}
	}

	static void allocate(int count) {
		for (int i = 0; i < count; i++)
			array = new byte[ARRAY_BYTES];
	}

	/* The three places take turns, as far as there is something left to make. */
	static void make(int often, int seldom, int arrays) {
		while (often + seldom + arrays > 0) {
			often(Math.min(often, CHUNK));
			seldom(Math.min(seldom, CHUNK));
			allocate(Math.min(arrays, CHUNK));
			often = Math.max(often - CHUNK, 0);
			seldom = Math.max(seldom - CHUNK, 0);
			arrays = Math.max(arrays - CHUNK, 0);
		}
	}

	public static void main(String[] args) {
		Scanner input = new Scanner(System.in);

		System.out.println("ready");
		while (input.hasNextInt()) {
			make(input.nextInt(), input.nextInt(), input.nextInt());
			System.out.println("made");
		}
	}
}
