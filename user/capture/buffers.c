// SPDX-License-Identifier: Apache-2.0
/* Computes the sizes of buffers from the number of CPUs. */
#include "capture/buffers.h"

/*
 * Bytes of a side-band ring: the most that the default of kernel.perf_event_mlock_kb allows without
 * CAP_IPC_LOCK.
 */
#define SIDEBAND (512UL << 10)
/*
 * Bytes of the smallest side-band ring: room for 500 mappings, as many as two starting programs
 * make.
 */
#define SIDEBAND_MIN (64UL << 10)
/*
 * Bytes of a CPU's array of switches: room for half a second at a million records (16 bytes each)
 * per second.
 */
#define SWITCHES (8UL << 20)
#define SWITCHES_MIN (64UL << 10)
/*
 * Bytes of a CPU's hits of probes: room for half a second at 140,000 a second, which is a third of
 * what a CPU can hit when it does nothing else (120 bytes each).
 */
#define PROBES (8UL << 20)
#define PROBES_MIN (256UL << 10)
/*
 * Bytes of a CPU's records of interrupts: room for a quarter of a second, as long as the rings may
 * lie, at 130,000 a second (32 bytes each).
 */
#define HANDLED (1UL << 20)
#define HANDLED_MIN (64UL << 10)
/* Bytes of the smallest sample ring: room for four of the largest samples, of about 220 KiB. */
#define SAMPLES_MIN (1UL << 20)
/* Bytes of the largest sample ring that several CPUs share; the ring of one CPU may be larger. */
#define SHARED_RING_MAX (BUFFERS_SAMPLES_MAX / BUFFERS_RINGS_MAX)

static uint64_t bytes_of_each_cpu(uint64_t wanted, uint64_t least, uint64_t most_of_all,
				  unsigned int cpus)
{
	while (wanted > least && wanted * cpus > most_of_all)
		wanted /= 2;
	return wanted;
}

uint64_t buffers_sideband_bytes(unsigned int cpus)
{
	return bytes_of_each_cpu(SIDEBAND, SIDEBAND_MIN, BUFFERS_SIDEBAND_MAX, cpus);
}

uint64_t buffers_switches_bytes(unsigned int cpus)
{
	return bytes_of_each_cpu(SWITCHES, SWITCHES_MIN, BUFFERS_SWITCHES_MAX, cpus);
}

/* Return the bytes of a ring that several CPUs share, each with room for some bytes. */
static uint64_t bytes_of_shared_ring(uint64_t bytes, unsigned int cpus)
{
	unsigned int sharing = buffers_cpus_per_ring(cpus);
	uint64_t ret = bytes;

	while (ret < bytes * sharing)
		ret *= 2;
	return ret;
}

uint64_t buffers_probes_bytes(unsigned int cpus)
{
	return bytes_of_shared_ring(
		bytes_of_each_cpu(PROBES, PROBES_MIN, BUFFERS_SWITCHES_MAX, cpus), cpus);
}

uint64_t buffers_handled_bytes(unsigned int cpus)
{
	return bytes_of_shared_ring(
		bytes_of_each_cpu(HANDLED, HANDLED_MIN, BUFFERS_SWITCHES_MAX, cpus), cpus);
}

unsigned int buffers_cpus_per_ring(unsigned int cpus)
{
	return (cpus + BUFFERS_RINGS_MAX - 1) / BUFFERS_RINGS_MAX;
}

/*
 * Return the bytes of a sample ring: at least half a second of one CPU's samples, and half a second
 * of the samples of every CPU that shares the ring as far as SHARED_RING_MAX allows.
 */
uint64_t buffers_samples_bytes(unsigned int cpus, uint64_t rate, uint64_t sample)
{
	uint64_t one = rate * sample / 2, all = one * buffers_cpus_per_ring(cpus);
	uint64_t wanted = all < SHARED_RING_MAX	  ? all
			  : one > SHARED_RING_MAX ? one
						  : SHARED_RING_MAX;
	uint64_t ret = SAMPLES_MIN;

	while (ret < wanted)
		ret *= 2;
	return ret;
}
