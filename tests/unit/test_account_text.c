// SPDX-License-Identifier: Apache-2.0
/* Test the text that shows the terms of an account. */
#include "cmd/account_text.h"
#include "suite.h"

static char text[256];

START_TEST(terms_that_are_nothing_are_left_out)
{
	const struct account_terms t = {.due = 1980, .written = 1975, .lost = 4, .cut_off = 1};

	ck_assert_str_eq(account_show(&t, text, sizeof(text)),
			 "1,980 samples due = 1,975 written + 4 lost + 1 cut off");
	ck_assert_str_eq(account_show_error(&t, text, sizeof(text)),
			 "0.2 % of the samples are lost: no share is off by more");
}
END_TEST

START_TEST(all_terms)
{
	const struct account_terms t = {
		.due = 21,
		.written = 1,
		.idle = 2,
		.filtered = 3,
		.stolen = 4,
		.lost = 5,
		.cut_off = 6,
		.unexplained = -7,
	};

	ck_assert_str_eq(account_show(&t, text, sizeof(text)),
			 "21 samples due = 1 written + 2 idle + 3 filtered + 4 stolen + 5 lost + "
			 "6 cut off + -7 unexplained");
}
END_TEST

START_TEST(nothing_lost_is_said_in_the_sum_alone)
{
	const struct account_terms t = {.due = 5, .written = 1, .stolen = 4};

	ck_assert_str_eq(account_show(&t, text, sizeof(text)),
			 "5 samples due = 1 written + 4 stolen + 0 lost");
	ck_assert_str_eq(account_show_error(&t, text, sizeof(text)), "");
}
END_TEST

SUITE("account text", terms_that_are_nothing_are_left_out, all_terms,
      nothing_lost_is_said_in_the_sum_alone)
