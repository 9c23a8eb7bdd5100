// SPDX-License-Identifier: Apache-2.0
/* Contains the table of needs, and writes the commands and lines that fulfil them. */
#include "capture/needs.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CAPABILITY_ENTRY(NAME, what, lost) {"CAP_" #NAME, CAP_##NAME, what, lost, NULL, {NULL}},
#define FEATURE_ENTRY(NAME, name, what, lost, lacking, ...) \
	{name, -1, what, lost, lacking, {__VA_ARGS__}},

const struct need_entry need_table[NEED_COUNT] = {NEED_CAPABILITIES(CAPABILITY_ENTRY)
							  NEED_FEATURES(FEATURE_ENTRY)};

#define SETTING_TEXT(NAME, text, place) text,
#define SETTING_PLACE(NAME, text, place) place,
static const char *const setting_texts[] = {NEED_SETTINGS(SETTING_TEXT)};
static const char *const setting_places[] = {NEED_SETTINGS(SETTING_PLACE)};

const char *setting_text(enum setting s)
{
	return setting_texts[s];
}

const char *setting_place(enum setting s)
{
	return setting_places[s];
}

struct need_text {
	char *buf;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void need_text_add(struct need_text *t,
								const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->buf + t->used, t->size - t->used, format, args);
	va_end(args);
	t->used += n > 0 ? (size_t)n : 0;
	if (t->used >= t->size)
		t->used = t->size - 1;
}

/*
 * Add the names of needs, each without its first skip characters. last separates the last two
 * names, between all others.
 */
static void need_text_add_names(struct need_text *t, uint64_t needs, size_t skip,
				const char *between, const char *last)
{
	for (unsigned int i = 0, begun = 0; i < NEED_COUNT; i++) {
		if (!(needs & NEED_BIT(i)))
			continue;
		needs &= ~NEED_BIT(i);
		need_text_add(t, "%s%s",
			      !begun++ ? ""
			      : needs  ? between
				       : last,
			      need_table[i].name + skip);
	}
}

const char *need_names(uint64_t needs, char *buf, size_t size)
{
	struct need_text t = {buf, size, 0};

	buf[0] = '\0';
	need_text_add_names(&t, needs, 0, ", ", " and ");
	return buf;
}

/*
 * Add a setcap command with all capabilities of the table, since setcap(8) replaces the
 * capabilities of a file. The command leaves out the inheritable set, so that commands that skein
 * starts get none of these capabilities.
 */
static void need_text_add_setcap(struct need_text *t)
{
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	size_t begin;

	path[n > 0 ? n : 0] = '\0';
	need_text_add(t, "run it with sudo, or once: sudo setcap ");
	begin = t->used;
	need_text_add_names(t, NEEDS_CAPABILITIES, 0, ",", ",");
	for (char *c = t->buf + begin; *c; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
	need_text_add(t, "=ep %s", n > 0 ? path : "skein");
}

/*
 * Where this process is a unit whose other settings take capabilities out of the bounding set, name
 * these settings: AmbientCapabilities= alone would not bring the capabilities back.
 */
static void need_text_add_bounds(struct need_text *t, uint64_t needs)
{
	uint64_t out = 0;

	for (unsigned int i = 0; i < NEED_KERNEL && setting_here() == SETTING_SYSTEMD; i++)
		if (needs & NEED_BIT(i) &&
		    prctl(PR_CAPBSET_READ, need_table[i].capability, 0, 0, 0) == 0)
			out |= NEED_BIT(i);
	if (out == NEED_BIT(NEED_CAP_SYSLOG))
		need_text_add(t, ", and ProtectKernelLogs=no");
	else if (out)
		need_text_add(t, ", and these in CapabilityBoundingSet= as well");
}

static void need_text_add_capabilities(struct need_text *t, uint64_t needs, enum setting s)
{
	const size_t prefix = strlen("CAP_");

	switch (s) {
	case SETTING_ROOT:
		need_text_add(t, "start it from a root shell that has ");
		need_text_add_names(t, needs, 0, ", ", " and ");
		need_text_add(t, " ('capsh --print' shows what this one has)");
		break;
	case SETTING_USER:
		need_text_add_setcap(t);
		break;
	case SETTING_SYSTEMD:
		need_text_add(t, "AmbientCapabilities=");
		need_text_add_names(t, needs, 0, " ", " ");
		need_text_add_bounds(t, needs);
		break;
	case SETTING_CONTAINER:
		need_text_add(t, "--user 0 --cap-add ");
		need_text_add_names(t, needs, prefix, " --cap-add ", " --cap-add ");
		break;
	case SETTING_KUBERNETES:
	case SETTING_COUNT:
		need_text_add(t, "securityContext: {runAsUser: 0, capabilities: {add: [");
		need_text_add_names(t, needs, prefix, ", ", ", ");
		need_text_add(t, "]}}");
		break;
	}
}

const char *need_fix(uint64_t needs, enum setting s, char *buf, size_t size)
{
	struct need_text t = {buf, size, 0};
	uint64_t others = needs & ~NEEDS_CAPABILITIES;

	buf[0] = '\0';
	if (others)
		need_text_add(&t, "%s", need_table[ffsll((long long)others) - 1].fixes[s]);
	else if (needs)
		need_text_add_capabilities(&t, needs, s);
	return buf;
}
