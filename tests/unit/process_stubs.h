/* SPDX-License-Identifier: Apache-2.0 */
/* What a process table asks of others, for tests in which no process has it. */
#ifndef SKEIN_TESTS_PROCESS_STUBS_H
#define SKEIN_TESTS_PROCESS_STUBS_H

#include "capture/process.h"

/* For process_context.cgroup_path. */
static inline const char *no_text(void *context, uint64_t id)
{
	(void)context;
	(void)id;
	return "";
}

/* For process_context.place. */
static inline struct process_place no_process_place(void *context, const struct process_entry *p,
						    const char *path)
{
	(void)context;
	(void)p;
	(void)path;
	return (struct process_place){.container = "", .service = ""};
}

#endif
