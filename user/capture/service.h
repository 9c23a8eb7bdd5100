/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names containers and services by rules for the paths of control groups. The rules are built in
 * (service_rules.h); a file of the administrator can add to them. Nothing is requested from a
 * container engine. docs/services.md describes the rules.
 */
#ifndef SKEIN_CAPTURE_SERVICE_H
#define SKEIN_CAPTURE_SERVICE_H

#include <stddef.h>

#include "base/error.h"

#define SERVICE_NAME_MAX 256 /* bytes of a container's id or a service's name, NUL included */
#define SERVICE_DEFAULT_FILE "/etc/skein/services"

struct services;

/*
 * Make the rules. file: a file with further rules, which come before the built-in ones; NULL:
 * SERVICE_DEFAULT_FILE, if it exists. Return 0, or a negative errno with the cause in *err; -EINVAL
 * for a line that is no rule.
 */
int services_new(struct services **out, const char *file, struct error *err);
void services_free(struct services *s);

/* What a control group belongs to; "" if nothing. A longer text is cut. */
struct service_names {
	/*
	 * id of the innermost container: the 64 hex digits of Docker, containerd, CRI-O and Podman,
	 * or the name of a container of LXC or systemd-nspawn
	 */
	char container[SERVICE_NAME_MAX];
	char service[SERVICE_NAME_MAX];
};

/* Find the container of a control group by its path. */
void services_find_container(const struct services *s, const char *path, struct service_names *n);

/*
 * Find the service of a control group whose container is known. host: the host name that its
 * processes see, "" if it is unknown or the machine's. Where the path names nothing, as in a cgroup
 * namespace, the host name does, as that of a pod.
 */
void services_find_name(const struct services *s, const char *path, const char *host,
			struct service_names *n);

struct service_rule {
	const char *manager; /* whose control groups these are, for people */
	const char *pattern, *name;
};

/* Return a built-in rule by index from 0; its pattern is NULL after the last one. */
struct service_rule service_builtin_rule(size_t index);

#endif
