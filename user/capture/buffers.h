/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the sizes of the buffers into which the BPF programs write, from the number of CPUs: as
 * large as one CPU may need, and within a bound for all CPUs together. Sizes are powers of two.
 */
#ifndef SKEIN_CAPTURE_BUFFERS_H
#define SKEIN_CAPTURE_BUFFERS_H

#include <stdint.h>

/*
 * Bounds in bytes for the buffers of all CPUs together; the one for sample rings holds at rates up
 * to 1 kHz.
 */
#define BUFFERS_SIDEBAND_MAX (64UL << 20)
#define BUFFERS_SWITCHES_MAX (256UL << 20)
#define BUFFERS_SAMPLES_MAX (128UL << 20)

/* Maximum number of sample rings; more rings would cost memory and would not be faster. */
#define BUFFERS_RINGS_MAX 16

/* Return the bytes of each CPU's ring of process and mapping records. */
uint64_t buffers_sideband_bytes(unsigned int cpus);

/* Return the bytes of each CPU's array of switches and wake-ups. */
uint64_t buffers_switches_bytes(unsigned int cpus);

/* Return how many CPUs share one sample ring. */
unsigned int buffers_cpus_per_ring(unsigned int cpus);

/* Return the bytes of each sample ring. rate: Hz. sample: bytes of one sample with a deep stack. */
uint64_t buffers_samples_bytes(unsigned int cpus, uint64_t rate, uint64_t sample);

#endif
