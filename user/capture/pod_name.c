// SPDX-License-Identifier: Apache-2.0
/* Recognizes the names that container managers give to the control groups of pods. */
#include <string.h>

#include "capture/pod.h"

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
bool pod_is_name(const char *name)
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
