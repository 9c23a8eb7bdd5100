/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads what profiled processes wrote, and can do nothing else. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_H
#define SKEIN_SYMBOLIZERS_WORKER_H

#include <stdint.h>

/* Descriptors that a worker keeps to read objects again; it holds a few more. */
#define WORKER_FILES_SPARE 16

/*
 * Be the worker: confine the process and answer what comes on socket until
 * its other end is closed. To be called in a fresh child of parent. memory: bytes
 * that a worker of sources may take; 0: it is not one. name: of the process.
 */
void worker_main(int socket, int parent, unsigned int files, uint64_t memory, const char *name)
	__attribute__((noreturn));

#endif
