/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large the buffers are into which the kernel side writes, by the number of CPUs: as large as
 * one CPU may need, and not larger than a bound for all of them together. Powers of two.
 */
#ifndef SKEIN_CAPTURE_BUFFERS_H
#define SKEIN_CAPTURE_BUFFERS_H

#include <stdint.h>

/* Bytes of all CPUs' buffers together; of sample rings, at rates up to 1 kHz. */
#define BUFFERS_SIDEBAND_MOST (64UL << 20)
#define BUFFERS_SWITCHES_MOST (256UL << 20)
#define BUFFERS_SAMPLES_MOST (128UL << 20)

/* More rings of samples than this would not be faster, only more memory. */
#define BUFFERS_RINGS_MOST 16

/* Of each CPU, for records of processes and mappings. */
uint64_t buffers_sideband(unsigned int cpus);

/* Of each CPU, for switches and wake-ups. */
uint64_t buffers_switches(unsigned int cpus);

/* How many CPUs share a ring of samples. */
unsigned int buffers_cpus_per_ring(unsigned int cpus);

/* Of each ring of samples. rate: Hz. sample: bytes of one with a deep stack. */
uint64_t buffers_samples(unsigned int cpus, uint64_t rate, uint64_t sample);

#endif
