/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the host names of containers: the name in the UTS namespace of a thread, read by
 * bpf/host_name.bpf.c.
 */
#ifndef SKEIN_CAPTURE_HOST_NAME_H
#define SKEIN_CAPTURE_HOST_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct host_names;

/* Return NULL without memory. */
struct host_names *host_names_new(void);
void host_names_free(struct host_names *h);

/*
 * Return the host name in the control group with this id, read from its process pid (a number in
 * the pid namespace of the caller) that was born then, ns; "" if the process is gone, or has the
 * machine's own name. A name that was found is kept for the control group. The text is valid until
 * the next call. The first call loads the BPF program.
 */
const char *host_names_find(struct host_names *h, uint64_t cgroup, uint32_t pid, uint64_t born);

/* Return whether the recorder itself sees another host name than the machine's own. */
bool host_names_inside(const struct host_names *h);

/* Return 0, or the negative errno with which loading the program failed. */
int host_names_error(const struct host_names *h);

#endif
