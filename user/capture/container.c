// SPDX-License-Identifier: Apache-2.0
/* Finds the container id in a cgroup path, by the naming patterns of the container managers. */
#include <stdio.h>
#include <string.h>

#include "capture/cgroup.h"

#define ID_LENGTH 64

/* A component of a path, not NUL-terminated. */
struct part {
	const char *at;
	size_t length;
};

static bool is_id(struct part p)
{
	return p.length == ID_LENGTH && strspn(p.at, "0123456789abcdef") >= ID_LENGTH;
}

static bool is(struct part p, const char *text)
{
	return p.length == strlen(text) && !memcmp(p.at, text, p.length);
}

/* Remove the prefix text from a component, unless nothing would remain. */
static bool cut(struct part *p, const char *text)
{
	size_t n = strlen(text);

	if (p->length <= n || memcmp(p->at, text, n))
		return false;
	p->at += n;
	p->length -= n;
	return true;
}

/*
 * Return the id in a component that also names its manager: NAME-ID.scope, NAME-ID, SLICE:NAME:ID.
 */
static struct part named_id(struct part p)
{
	static const char *const managers[] = {"docker-", "cri-containerd-", "crio-", "libpod-"};
	static const char scope[] = ".scope";
	const size_t n = sizeof(scope) - 1;
	const char *colon = memrchr(p.at, ':', p.length);
	size_t i;

	if (p.length > n && !memcmp(p.at + p.length - n, scope, n))
		p.length -= n;
	for (i = 0; i < sizeof(managers) / sizeof(managers[0]); i++)
		if (cut(&p, managers[i]))
			return p;
	if (colon)
		return (struct part){colon + 1, (size_t)(p.at + p.length - colon - 1)};
	return (struct part){p.at, 0};
}

char *cgroup_container(const char *path, char *buf, size_t size)
{
	struct part found = {path, 0}, part, id, last = {path, 0};
	/* true below the cgroup of a manager that names its containers' cgroups by the id alone */
	bool managed = false;

	for (; *path; path += part.length, last = part) {
		path += strspn(path, "/");
		part = id = (struct part){path, strcspn(path, "/")};
		managed |=
			is(last, "docker") || (last.length >= 8 && !memcmp(last.at, "kubepods", 8));
		if (!managed || !is_id(id))
			id = named_id(part);
		if (is_id(id))
			found = id;
		else if (part.length && is(last, "lxc"))
			found = part;
		else if (cut(&(struct part){part.at, part.length}, "lxc.payload."))
			found = (struct part){part.at + 12, part.length - 12};
	}
	snprintf(buf, size, "%.*s", (int)found.length, found.at);
	return buf;
}
