// SPDX-License-Identifier: Apache-2.0
/* Computes the sizes of buffers from the number of CPUs. */
#include "capture/buffers.h"

/* Bytes of a side-band ring that need no CAP_IPC_LOCK (kernel.perf_event_mlock_kb). */
#define SIDEBAND (512UL << 10)
/*
 * Bytes of the smallest side-band ring: room for 500 mappings, as many as two starting programs
 * make.
 */
#define SIDEBAND_LEAST (64UL << 10)
/* Bytes of a CPU's array of switches: room for half a second of the fastest switching. */
#define SWITCHES (8UL << 20)
#define SWITCHES_LEAST (64UL << 10)
/* Bytes of the smallest sample ring: room for 64 unfinished stacks. */
#define SAMPLES_LEAST (1UL << 20)
/* Bytes of the largest sample ring that several CPUs share; the ring of one CPU may be larger. */
#define SAMPLES_MOST (BUFFERS_SAMPLES_MOST / BUFFERS_RINGS_MOST)

static uint64_t of_each(uint64_t wanted, uint64_t least, uint64_t most_of_all, unsigned int cpus)
{
	while (wanted > least && wanted * cpus > most_of_all)
		wanted /= 2;
	return wanted;
}

uint64_t buffers_sideband(unsigned int cpus)
{
	return of_each(SIDEBAND, SIDEBAND_LEAST, BUFFERS_SIDEBAND_MOST, cpus);
}

uint64_t buffers_switches(unsigned int cpus)
{
	return of_each(SWITCHES, SWITCHES_LEAST, BUFFERS_SWITCHES_MOST, cpus);
}

unsigned int buffers_cpus_per_ring(unsigned int cpus)
{
	return (cpus + BUFFERS_RINGS_MOST - 1) / BUFFERS_RINGS_MOST;
}

/*
 * Return the bytes of a sample ring: at least half a second of one CPU's samples, and half a second
 * of the samples of every CPU that shares the ring as far as SAMPLES_MOST allows.
 */
uint64_t buffers_samples(unsigned int cpus, uint64_t rate, uint64_t sample)
{
	uint64_t one = rate * sample / 2, all = one * buffers_cpus_per_ring(cpus);
	uint64_t wanted = all < SAMPLES_MOST ? all : one > SAMPLES_MOST ? one : SAMPLES_MOST;
	uint64_t ret = SAMPLES_LEAST;

	while (ret < wanted)
		ret *= 2;
	return ret;
}
