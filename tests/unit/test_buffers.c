// SPDX-License-Identifier: Apache-2.0
/*
 * Test the sizes of buffers for any number of CPUs: they are within their bounds and not smaller
 * than necessary.
 */
#include "capture/buffers.h"

#include <stdbool.h>

#include "suite.h"

#define MIB (1UL << 20)
#define CPUS_MAX 4096

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static bool is_rightly_bounded(uint64_t each, uint64_t wanted, uint64_t most, unsigned int cpus)
{
	return is_power_of_two(each) && each <= wanted && each * cpus <= most &&
	       (each == wanted || 2 * each * cpus > most);
}

START_TEST(all_together_stay_within_the_bounds)
{
	unsigned int wrong = 0;

	for (unsigned int cpus = 1; cpus <= CPUS_MAX; cpus++) {
		wrong += !is_rightly_bounded(buffers_sideband_bytes(cpus), MIB / 2,
					     BUFFERS_SIDEBAND_MAX, cpus) &&
			 cpus <= 1024;
		wrong += !is_rightly_bounded(buffers_switches_bytes(cpus), 8 * MIB,
					     BUFFERS_SWITCHES_MAX, cpus);
	}
	ck_assert_uint_eq(wrong, 0);
	/* The mappings of starting programs must fit. */
	ck_assert_uint_eq(buffers_sideband_bytes(CPUS_MAX), MIB / 16);
}
END_TEST

START_TEST(rings_of_samples_are_few_and_bounded)
{
	unsigned int wrong = 0;

	for (unsigned int cpus = 1; cpus <= CPUS_MAX; cpus++) {
		unsigned int shared = buffers_cpus_per_ring(cpus);
		unsigned int rings = (cpus + shared - 1) / shared;

		wrong += rings > BUFFERS_RINGS_MAX || rings < cpus / shared;
		wrong += rings * buffers_samples_bytes(cpus, 99, 2048) > BUFFERS_SAMPLES_MAX;
		wrong += rings * buffers_samples_bytes(cpus, 1000, 2048) > BUFFERS_SAMPLES_MAX;
		/* half a second of one CPU, at any frequency */
		wrong += buffers_samples_bytes(cpus, 20000, 2048) < 10000 * 2048;
		wrong += !is_power_of_two(buffers_samples_bytes(cpus, 99, 2048));
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* The numbers of the table in docs/performance.md. */
START_TEST(as_documented)
{
	ck_assert_uint_eq(buffers_sideband_bytes(32) * 32, 16 * MIB);
	ck_assert_uint_eq(buffers_sideband_bytes(256) * 256, 64 * MIB);
	ck_assert_uint_eq(buffers_switches_bytes(32) * 32, 256 * MIB);
	ck_assert_uint_eq(buffers_switches_bytes(48) * 48, 192 * MIB);
	ck_assert_uint_eq(buffers_switches_bytes(256) * 256, 256 * MIB);
	ck_assert_uint_eq(buffers_samples_bytes(2, 99, 2048), MIB);
	ck_assert_uint_eq(buffers_samples_bytes(32, 99, 2048), MIB);
	ck_assert_uint_eq(buffers_samples_bytes(256, 99, 2048), 2 * MIB);
}
END_TEST

SUITE("buffers", all_together_stay_within_the_bounds, rings_of_samples_are_few_and_bounded,
      as_documented)
