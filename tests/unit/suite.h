/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of a unit test program: tests in START_TEST() blocks, then SUITE("name", test, test,
 * ...).
 */
#ifndef SKEIN_TESTS_SUITE_H
#define SKEIN_TESTS_SUITE_H

#include <check.h>

/* Time limit of one test in seconds, generous for sanitizers on a busy machine. */
#define SUITE_TIMEOUT 120

/* Run the tests of a case, which is freed. Return the exit status of the program. */
static inline int suite_run_case(const char *name, TCase *tcase)
{
	Suite *suite = suite_create(name);
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

static inline TCase *suite_case(const char *name, const TTest *const *tests, size_t count)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, SUITE_TIMEOUT);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	return tcase;
}

static inline int suite_run(const char *name, const TTest *const *tests, size_t count)
{
	return suite_run_case(name, suite_case(name, tests, count));
}

#define SUITE(name, ...) \
	int main(void) \
	{ \
		const TTest *const tests[] = {__VA_ARGS__}; \
\
		return suite_run(name, tests, sizeof(tests) / sizeof(tests[0])); \
	}

#endif
