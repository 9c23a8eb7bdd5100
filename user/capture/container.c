// SPDX-License-Identifier: Apache-2.0
/* Finds the container id in a cgroup path, by the naming patterns of the container managers. */
#include <stdio.h>
#include <string.h>

#include "capture/cgroup.h"

#define ID_LENGTH 64

/* A component of a path, not NUL-terminated. */
struct path_component {
	const char *at;
	size_t length;
};

static bool is_container_id(struct path_component p)
{
	return p.length == ID_LENGTH && strspn(p.at, "0123456789abcdef") >= ID_LENGTH;
}

static bool component_is(struct path_component p, const char *text)
{
	return p.length == strlen(text) && !memcmp(p.at, text, p.length);
}

/* Remove the prefix text from a component, unless nothing would remain. */
static bool cut_prefix(struct path_component *p, const char *text)
{
	size_t n = strlen(text);

	if (p->length <= n || memcmp(p->at, text, n))
		return false;
	p->at += n;
	p->length -= n;
	return true;
}

/*
 * Return the part of a component where the id is if the component names the container's manager:
 * NAME-ID.scope, NAME-ID, SLICE:NAME:ID. Its length is 0 if the component has none of these forms.
 * The caller checks whether the part is an id.
 */
static struct path_component container_id_in(struct path_component p)
{
	static const char *const managers[] = {"docker-", "cri-containerd-", "crio-", "libpod-"};
	static const char scope[] = ".scope";
	const size_t n = sizeof(scope) - 1;
	const char *colon = memrchr(p.at, ':', p.length);
	size_t i;

	if (p.length > n && !memcmp(p.at + p.length - n, scope, n))
		p.length -= n;
	for (i = 0; i < sizeof(managers) / sizeof(managers[0]); i++)
		if (cut_prefix(&p, managers[i]))
			return p;
	if (colon)
		return (struct path_component){colon + 1, (size_t)(p.at + p.length - colon - 1)};
	return (struct path_component){p.at, 0};
}

char *cgroup_container(const char *path, char *buf, size_t size)
{
	struct path_component found = {path, 0}, part, id, last = {path, 0};
	/* a cgroup above is of a manager that names its containers' cgroups by the id alone */
	bool managed = false;

	for (; *path; path += part.length, last = part) {
		path += strspn(path, "/");
		part = id = (struct path_component){path, strcspn(path, "/")};
		managed |= component_is(last, "docker") ||
			   (last.length >= 8 && !memcmp(last.at, "kubepods", 8));
		if (!managed || !is_container_id(id))
			id = container_id_in(part);
		if (is_container_id(id))
			found = id;
		else if (part.length && component_is(last, "lxc"))
			found = part;
		else if (cut_prefix(&(struct path_component){part.at, part.length}, "lxc.payload."))
			found = (struct path_component){part.at + 12, part.length - 12};
	}
	snprintf(buf, size, "%.*s", (int)found.length, found.at);
	return buf;
}
