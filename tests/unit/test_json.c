// SPDX-License-Identifier: Apache-2.0
/* Test json.c with Python's parser, and by comparing text where the layout matters. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "suite.h"

static void check_layout(bool indent, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json j;

	json_begin(&j, out, indent);
	json_object(&j);
	json_key_text(&j, "a", "x");
	json_key(&j, "empty");
	json_object(&j);
	json_object_end(&j);
	json_key(&j, "list");
	json_array(&j);
	json_uint(&j, UINT64_MAX);
	json_int(&j, INT64_MIN);
	json_array(&j);
	json_array_end(&j);
	json_bool(&j, true);
	json_null(&j);
	json_array_end(&j);
	json_key_real(&j, "r", 0.1);
	json_object_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(commas_and_nesting)
{
	check_layout(false, "{\"a\":\"x\",\"empty\":{},\"list\":[18446744073709551615,"
			    "-9223372036854775808,[],true,null],\"r\":0.1}\n");
	check_layout(true, "{\n  \"a\": \"x\",\n  \"empty\": {},\n  \"list\": [\n"
			   "    18446744073709551615,\n    -9223372036854775808,\n    [],\n"
			   "    true,\n    null\n  ],\n  \"r\": 0.1\n}\n");
}
END_TEST

static char *write_text(const char *text)
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);
	struct json j;

	json_begin(&j, out, false);
	json_text(&j, text);
	json_end(&j);
	fclose(out);
	return ret;
}

START_TEST(nothing_leaves_a_script_element)
{
	char *text = write_text("</script><!-- & \xe2\x80\xa8\xe2\x80\xa9 \"\\\n\x01\x7f\xc2\x85");

	ck_assert_str_eq(text, "\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\\u2029 \\\"\\\\"
			       "\\n\\u0001\\u007f\\u0085\"\n");
	free(text);
	text = write_text(NULL);
	ck_assert_str_eq(text, "\"\"\n");
	free(text);
}
END_TEST

/* Pairs of bytes in hex and the text: Python decodes both and compares. */
static const char check_pairs[] = "python3 -c 'import json, sys\n"
				  "raw = sys.stdin.buffer.read()\n"
				  "assert not set(raw) & set(b\"<>&\"), \"unsafe in HTML\"\n"
				  "assert not any(b < 32 and b != 10 for b in raw)\n"
				  "pairs = json.loads(raw.decode(\"utf-8\"))\n"
				  "assert len(pairs) > 1000\n"
				  "for i, (hexed, text) in enumerate(pairs):\n"
				  "    want = bytes.fromhex(hexed).decode(\"utf-8\", \"replace\")\n"
				  "    assert text == want, (i, hexed, text, want)'";

static void put_pair(struct json *j, const char *text)
{
	char hex[2 * 64 + 1] = "";

	for (size_t i = 0; text[i]; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)text[i]);
	json_array(j);
	json_text(j, hex);
	json_text(j, text);
	json_array_end(j);
}

START_TEST(python_reads_any_bytes_as_itself_would)
{
	FILE *out = popen(check_pairs, "w");
	char text[33];
	struct json j;

	srand(5);
	json_begin(&j, out, true);
	json_array(&j);
	for (int a = 1; a < 256; a++)
		for (int b = 0; b < 256; b += a < 0x80 ? 51 : 1)
			put_pair(&j, (char[]){(char)a, (char)b, 0});
	for (int round = 0; round < 20000; round++) {
		int n = rand() % 32;

		for (int i = 0; i < n; i++)
			text[i] = (char)(rand() % 3 ? 0x7f + rand() % 0x81 : 1 + rand() % 0x7f);
		text[n] = '\0';
		put_pair(&j, text);
	}
	json_array_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_int_eq(pclose(out), 0);
}
END_TEST

START_TEST(reals_come_back_exactly)
{
	const double reals[] = {0,	-0.0, 0.1,	  1.0 / 3,	     1e300,
				5e-324, -2.5, 1e15 + 0.3, 123456789.0123456, 1e22};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json j;
	char *p;

	json_begin(&j, out, false);
	json_array(&j);
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		json_real(&j, reals[i]);
	json_real(&j, INFINITY);
	json_real(&j, NAN);
	json_array_end(&j);
	json_end(&j);
	fclose(out);
	p = text + 1;
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++, p++)
		ck_assert(strtod(p, &p) == reals[i]);
	ck_assert_str_eq(p, "null,null]\n");
	free(text);
}
END_TEST

START_TEST(decimals_are_exact)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json j;

	json_begin(&j, out, false);
	json_array(&j);
	json_decimal(&j, 1234500, 3);
	json_decimal(&j, 7, 3);
	json_decimal(&j, -7, 3);
	json_decimal(&j, 0, 1);
	json_decimal(&j, 42, 0);
	json_decimal(&j, INT64_MIN, 3);
	json_array_end(&j);
	json_end(&j);
	fclose(out);
	ck_assert_str_eq(text, "[1234.500,0.007,-0.007,0.0,42,-9223372036854775.808]\n");
	free(text);
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	FILE *out = fopen("/dev/full", "w");
	struct json j;

	json_begin(&j, out, false);
	json_array(&j);
	for (int i = 0; i < 100000; i++)
		json_uint(&j, 1);
	json_array_end(&j);
	ck_assert_int_lt(json_end(&j), 0);
	fclose(out);
}
END_TEST

SUITE("json", commas_and_nesting, nothing_leaves_a_script_element,
      python_reads_any_bytes_as_itself_would, reals_come_back_exactly, decimals_are_exact,
      a_full_disk_is_told)
