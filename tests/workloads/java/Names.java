// SPDX-License-Identifier: Apache-2.0
/*
 * Methods of every kind, compiled and hot: the tests know the lines of those marked with "line:".
 * Prints "ready" when all are compiled, and ends when its input ends.
 */
import java.lang.invoke.MethodHandles;
import java.util.function.IntUnaryOperator;

public class Names {
	static int sink;

	static int leaf(int n) {
		return n * 31 ^ n >>> 3; // line: leaf
	}

	static int middle(int n) {
		return leaf(n) + leaf(n + 1); // line: middle
	}

	static int outer(int n) {
		int sum = 0;

		for (int i = 0; i < n; i++)
			sum += middle(i); // line: outer
		return sum;
	}

	static class Nested {
		final int value;

		Nested(int value) {
			this.value = value; // line: constructor
		}

		class Deeper {
			int get(int n) {
				for (int i = 0; i < n; i++)
					sink += i % 7; // line: deeper
				return value + n;
			}
		}
	}

	public static class Template implements IntUnaryOperator {
		@Override
		public int applyAsInt(int n) {
			for (int i = 0; i < 100; i++)
				n += i % 11; // line: hidden
			return n;
		}
	}

	/* Not only ASCII, and a character above U+FFFF. */
	static int grüße_𝒳(int n) {
		for (int i = 0; i < 100; i++)
			n += i % 13;
		return n;
	}

	static IntUnaryOperator hidden() throws Exception {
		byte[] bytes;

		try (var in = Names.class.getResourceAsStream("Names$Template.class")) {
			bytes = in.readAllBytes();
		}
		return (IntUnaryOperator) MethodHandles.lookup().defineHiddenClass(bytes, true)
			.lookupClass().getDeclaredConstructor().newInstance();
	}

	public static void main(String[] args) throws Exception {
		IntUnaryOperator lambda = n -> {
			for (int i = 0; i < 100; i++)
				n += i % 3; // line: lambda
			return n;
		};
		IntUnaryOperator hidden = hidden();
		Nested.Deeper deeper = new Nested(3).new Deeper();
		int[] from = new int[64], to = new int[64];

		for (int round = 0;; round++) {
			sink += outer(1000) + new Nested(round).value + deeper.get(50);
			sink += lambda.applyAsInt(round) + hidden.applyAsInt(round);
			sink += grüße_𝒳(round) + Plain.work(round) + System.identityHashCode(from);
			System.arraycopy(from, 0, to, 0, 64);
			Thread.yield();
			if (round == 30000)
				System.out.println("ready");
			if (round % 1000 == 0 && System.in.available() > 0)
				break;
		}
	}
}
