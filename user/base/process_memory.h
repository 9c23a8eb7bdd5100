/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a process takes, without the files that it maps: rings and maps of BPF programs
 * count as such files, as do the program and its libraries, which the page cache holds.
 */
#ifndef SKEIN_BASE_PROCESS_MEMORY_H
#define SKEIN_BASE_PROCESS_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Return the bytes that are resident; 0: the process is gone. Pages that a parent and its child
 * share count in both. This takes 20 us.
 */
uint64_t process_memory(pid_t pid);
/*
 * The same, but of a page that several processes share each has its part. This takes 0.1 us for
 * each resident page. 0: it cannot be read.
 */
uint64_t process_memory_share(pid_t pid);

#endif
