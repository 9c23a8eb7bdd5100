// SPDX-License-Identifier: Apache-2.0
/* Test error.c and log.c: every message is one line, even with hostile names in it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "suite.h"

START_TEST(says_and_returns)
{
	struct error err = {""};

	ck_assert_int_eq(error_set(&err, -EINVAL, "no %s %d", "file", 3), -EINVAL);
	ck_assert_str_eq(err.text, "no file 3");
	ck_assert_int_eq(error_errno(&err, -ENOENT, "cannot open %s", "x"), -ENOENT);
	ck_assert_str_eq(err.text, "cannot open x: No such file or directory");
	ck_assert_int_eq(error_wrap(&err, -EIO, "record %d", 7), -EIO);
	ck_assert_str_eq(err.text, "record 7: cannot open x: No such file or directory");
}
END_TEST

START_TEST(arguments_may_be_the_old_text)
{
	struct error err = {""};

	error_set(&err, -EIO, "inner");
	error_set(&err, -EIO, "outer (%s)", err.text);
	ck_assert_str_eq(err.text, "outer (inner)");
	error_wrap(&err, -EIO, "%s", err.text);
	ck_assert_str_eq(err.text, "outer (inner): outer (inner)");
}
END_TEST

START_TEST(nothing_said_is_told_by_the_code)
{
	struct error err = {""};

	error_wrap(&err, -ENOSPC, "trace");
	ck_assert_str_eq(err.text, "trace: No space left on device");
	ck_assert_int_eq(error_set(NULL, -EIO, "x"), -EIO);
	ck_assert_int_eq(error_errno(NULL, -EIO, "x"), -EIO);
	ck_assert_int_eq(error_wrap(NULL, -EIO, "x"), -EIO);
}
END_TEST

START_TEST(hostile_names_stay_in_one_line)
{
	struct error err = {""};
	char name[3000];

	error_set(&err, -EIO, "bad \n\x1b[2J\xff%s", "name");
	ck_assert_str_eq(err.text, "bad ??[2J\xef\xbf\xbdname");
	memset(name, 0xff, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	error_errno(&err, -EIO, "cannot open %s", name);
	ck_assert_uint_lt(strlen(err.text), sizeof(err.text));
	error_wrap(&err, -EIO, "%s", name);
	ck_assert_uint_lt(strlen(err.text), sizeof(err.text));
}
END_TEST

/* The output to stderr of the calls between capture() and expect(). */
static FILE *redirected;
static int saved;

static void capture(void)
{
	redirected = tmpfile();
	saved = dup(2);
	dup2(fileno(redirected), 2);
}

static void expect(const char *text)
{
	char got[8192] = "";

	dup2(saved, 2);
	close(saved);
	rewind(redirected);
	got[fread(got, 1, sizeof(got) - 1, redirected)] = '\0';
	fclose(redirected);
	ck_assert_str_eq(got, text);
}

START_TEST(hints_are_lines_behind_what_was_said)
{
	struct error err = {""};

	error_set(&err, -EIO, "it broke");
	error_hint(&err, "fix %s", "this\nnow");
	error_hint(&err, "or ask");
	ck_assert_str_eq(err.text, "it broke\nfix this?now\nor ask");
	error_wrap(&err, -EIO, "record");
	ck_assert_str_eq(err.text, "record: it broke\nfix this?now\nor ask");
	capture();
	ck_assert_int_eq(log_failure(1, &err), 1);
	expect("skein: record: it broke\nskein: fix this?now\nskein: or ask\n");
	error_set(&err, -EIO, "again");
	ck_assert_str_eq(err.text, "again");
	error_hint(NULL, "nobody hears");
}
END_TEST

START_TEST(messages_are_lines_of_skein)
{
	struct error err = {"it broke"};

	capture();
	ck_assert_int_eq(log_error(2, "no %s", "such\nthing"), 2);
	ck_assert_int_eq(log_failure(-EIO, &err), -EIO);
	err.text[0] = '\0';
	ck_assert_int_eq(log_failure(-EIO, &err), -EIO);
	ck_assert_int_eq(log_failure(1, NULL), 1);
	log_warn("careful");
	log_info("100 %%");
	expect("skein: no such?thing\nskein: it broke\nskein: Input/output error\n"
	       "skein: failed\nskein: warning: careful\nskein: 100 %\n");
}
END_TEST

START_TEST(quiet_processes_print_errors)
{
	capture();
	log_set_quiet(true);
	log_warn("a");
	log_info("b");
	log_error(1, "always");
	log_set_quiet(false);
	log_warn("c");
	expect("skein: always\nskein: warning: c\n");
}
END_TEST

SUITE("error", says_and_returns, arguments_may_be_the_old_text, nothing_said_is_told_by_the_code,
      hostile_names_stay_in_one_line, hints_are_lines_behind_what_was_said,
      messages_are_lines_of_skein, quiet_processes_print_errors)
