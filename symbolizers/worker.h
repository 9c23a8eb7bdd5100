/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker process: it reads files and memory written by profiled processes, and has no
 * privileges.
 */
#ifndef SKEIN_SYMBOLIZERS_WORKER_H
#define SKEIN_SYMBOLIZERS_WORKER_H

#include <stdint.h>

/*
 * Number of descriptors of the worker in addition to the files that it keeps open to read objects
 * again.
 */
#define WORKER_FILES_SPARE 16

/*
 * Run the worker: confine the process and reply to requests on socket until its other end is
 * closed. Call this in a fresh child of parent. files: maximum number of files to keep open.
 * memory: bytes that a worker of sources may use; 0: the worker is not one. name: name of the
 * process.
 */
void worker_main(int socket, int parent, unsigned int files, uint64_t memory, const char *name)
	__attribute__((noreturn));

#endif
