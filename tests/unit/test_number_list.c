// SPDX-License-Identifier: Apache-2.0
/* number_list.c: lists with and without ranges, and every kind of text that is none. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number_list.h"
#include "suite.h"

static void expect(const char *text, const char *numbers)
{
	number_list list = {0};
	struct error err = {""};
	char got[64] = "";

	ck_assert_int_eq(number_list_parse(&list, text, "CPUs", "", &err), 0);
	for (size_t i = 0; i < list.count; i++) {
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u ", list.items[i]);
		ck_assert(number_list_has(&list, list.items[i]));
	}
	ck_assert_str_eq(got, numbers);
	ck_assert(!number_list_has(&list, 77));
	vector_free(&list);
}

START_TEST(numbers_and_ranges)
{
	expect("0", "0 ");
	expect("0-3,5", "0 1 2 3 5 ");
	expect("13,12", "12 13 ");
	expect("7-7", "7 ");
	expect("4294967294-4294967295", "4294967294 4294967295 ");
}
END_TEST

START_TEST(other_text_is_refused)
{
	static const char *const texts[] = {
		"",	  ",",	 "1,",	",1",  "1-",  "-1",  "3-2",	   "1-2-3",
		"12x",	  " 12", "+12", "1 2", "1\n", "0x1", "4294967296", "99999999999999999999",
		"0-65536"};
	number_list list = {0};
	struct error err = {""};

	ck_assert_int_eq(number_list_parse(&list, "4", "CPUs", "", &err), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_int_eq(number_list_parse(&list, texts[i], "CPUs", HINT_COMM, &err),
				 -EINVAL);
		ck_assert(strstr(err.text, "list of CPUs"));
		ck_assert(!strstr(err.text, HINT_COMM));
		ck_assert_uint_eq(list.count, 1);
	}
	ck_assert_int_eq(number_list_parse(&list, "python3", "processes", HINT_COMM, &err),
			 -EINVAL);
	ck_assert(strstr(err.text, HINT_COMM));
	vector_free(&list);
}
END_TEST

SUITE("number-list", numbers_and_ranges, other_text_is_refused)
