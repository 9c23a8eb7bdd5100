// SPDX-License-Identifier: Apache-2.0
/*
 * Classes that are made, compiled and unloaded again without end. The class Churn$T00000042 has the
 * method m00000042: a reader that mixes up two classes shows other numbers. Prints "ready" after
 * the first of them, and ends when its input ends.
 */
import java.util.ArrayDeque;

public class Churn {
	public static class T00000000 {
		public static int m00000000(int n) {
			int sum = 0;

			for (int i = 0; i < n; i++)
				sum += p00000000(i) * 7 % 13;
			return sum;
		}

		static int p00000000(int n) {
			return n ^ n >>> 2;
		}
	}

	static class Loader extends ClassLoader {
		Class<?> define(byte[] bytes) {
			return defineClass(null, bytes, 0, bytes.length);
		}
	}

	public static void main(String[] args) throws Exception {
		ArrayDeque<Class<?>> alive = new ArrayDeque<>();
		byte[] template;

		try (var in = Churn.class.getResourceAsStream("Churn$T00000000.class")) {
			template = in.readAllBytes();
		}
		for (int number = 1;; number++) {
			Class<?> made = new Loader().define(Numbered.copy(template, number));
			var method = made.getMethod(String.format("m%08d", number), int.class);

			for (int i = 0; i < 300; i++)
				method.invoke(null, 300);
			alive.add(made);
			if (alive.size() > 50)
				alive.remove();
			if (number % 100 == 0)
				System.gc();
			if (number == 100)
				System.out.println("ready");
			if (System.in.available() > 0)
				break;
		}
	}
}
