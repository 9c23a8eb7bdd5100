// SPDX-License-Identifier: Apache-2.0
/*
 * Finds containers and pods in the paths of control groups, by the naming patterns of the container
 * managers.
 */
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

/* Return the length of a UID at text: 8-4-4-4-12 hex digits, or, of a static pod, 32; 0: none. */
static size_t pod_uid_length(const char *text)
{
	static const size_t groups[] = {8, 4, 4, 4, 12};
	const char *at = text;

	if (strspn(text, "0123456789abcdef") == 32)
		return 32;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		if (strspn(at, "0123456789abcdef") != groups[i])
			return 0;
		at += groups[i];
		if (i < 4 && *at != '-' && *at != '_')
			return 0;
		at += i < 4;
	}
	return (size_t)(at - text);
}

/* Return whether text, after an identifier, is the end of a directory's name. */
static bool is_name_end(const char *text)
{
	return !*text || !strcmp(text, ".slice");
}

/*
 * Names: kubelet's cgroup manager (pod<UID>, and for systemd kubepods-<class>-pod<UID>.slice, whose
 * UID has underscores), podman (libpod_pod_<ID>, and for systemd <parent>-libpod_pod_<ID>.slice).
 */
bool cgroup_is_pod(const char *name)
{
	const char *pod = strstr(name, "libpod_pod_"), *dash = strrchr(name, '-');
	size_t length;

	if (pod)
		return strspn(pod + 11, "0123456789abcdef") == 64 && is_name_end(pod + 11 + 64);
	/* the UID itself has dashes with the cgroupfs driver, where nothing stands before "pod" */
	pod = !strncmp(name, "pod", 3)		     ? name
	      : dash && !strncmp(dash + 1, "pod", 3) ? dash + 1
						     : NULL;
	length = pod ? pod_uid_length(pod + 3) : 0;
	return length && is_name_end(pod + 3 + length);
}
