// SPDX-License-Identifier: Apache-2.0
/* Makes classes of other names from one class file, for programs that make many of them. */
final class Numbered {
	/* Copy a class file in whose names all numbers of eight zeros become this number. */
	static byte[] copy(byte[] template, int number) {
		byte[] bytes = template.clone();
		byte[] text = String.format("%08d", number).getBytes();

		for (int i = 0; i + 8 <= bytes.length; i++) {
			int same = 0;

			while (same < 8 && template[i + same] == '0')
				same++;
			if (same == 8)
				System.arraycopy(text, 0, bytes, i, 8);
		}
		return bytes;
	}
}
