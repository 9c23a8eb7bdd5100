// SPDX-License-Identifier: Apache-2.0
/* Compiled without debugging information: it has no lines, and no source file. */
public class Plain {
	static int part(int n) {
		return n * 3 + 1;
	}

	public static int work(int n) {
		for (int i = 0; i < 100; i++)
			n += part(i);
		return n;
	}
}
