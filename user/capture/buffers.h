/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the sizes of the buffers into which the BPF programs and the kernel write, from the
 * number of CPUs: as large as one CPU may need, or smaller to keep a bound for all CPUs together.
 * Sizes are powers of two.
 */
#ifndef SKEIN_CAPTURE_BUFFERS_H
#define SKEIN_CAPTURE_BUFFERS_H

#include <stdint.h>

/*
 * Bounds in bytes for the buffers of all CPUs together. Each buffer has a minimum size, so more
 * than 1024 CPUs exceed the bound of the side-band, and more than 4096 CPUs that of switches. The
 * sample rings exceed their bound if half a second of one CPU's samples takes more than a 16th of
 * the bound.
 */
#define BUFFERS_SIDEBAND_MAX (64UL << 20)
#define BUFFERS_SWITCHES_MAX (256UL << 20)
#define BUFFERS_SAMPLES_MAX (128UL << 20)

/* Maximum number of sample rings; more rings would cost memory and would not be faster. */
#define BUFFERS_RINGS_MAX 16

/* Return the bytes of each CPU's side-band ring: records of processes and mappings. */
uint64_t buffers_sideband_bytes(unsigned int cpus);

/* Return the bytes of each CPU's array of switches and wake-ups. */
uint64_t buffers_switches_bytes(unsigned int cpus);

/* Return the bytes of each ring of hits of probes. */
uint64_t buffers_probes_bytes(unsigned int cpus);

/* Return the bytes of each ring of records of interrupts that took long. */
uint64_t buffers_handled_bytes(unsigned int cpus);

/* Return how many CPUs share one sample ring, or one ring of hits of probes. */
unsigned int buffers_cpus_per_ring(unsigned int cpus);

/* Return the bytes of each sample ring. rate: Hz. sample: bytes of one sample with a deep stack. */
uint64_t buffers_samples_bytes(unsigned int cpus, uint64_t rate, uint64_t sample);

#endif
