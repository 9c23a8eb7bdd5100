// SPDX-License-Identifier: Apache-2.0
/* Show how much of the self time is named (analyze/named.h), and what gives names to the rest. */
#include "cmd/report_named.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cmd/package.h"

#define MODULES_SHOWN 4 /* with their shares */
#define MODULES_ADVISED 3 /* with what to do; the lists of dpkg are read for each */
/* Modules below this share of self time are left out, in percent. */
#define MODULE_MATTERS 1

static bool matters(const struct named_share *n, const struct nameless_share *m)
{
	return (double)m->weight * 100 >= (double)n->self * MODULE_MATTERS;
}

static void show_modules(const struct named_share *n, char *buf, size_t size)
{
	size_t used = strlen(buf);

	for (size_t i = 0; i < n->modules.count && i < MODULES_SHOWN; i++) {
		const struct nameless_share *m = &n->modules.items[i];
		char share[16], name[128];

		if (!matters(n, m))
			break;
		used = text_append(buf, size, used, "%s%s %s", i ? ", " : "; without: ",
				   text_clean(module_short_name(m->path), name, sizeof(name)),
				   show_percent(m->weight, n->self, share, sizeof(share)));
	}
}

/* Write what gives names to a module whose symbols were removed. Return false for other modules. */
static bool module_advice(const struct nameless_share *m, bool here, char *buf, size_t size)
{
	char name[128], command[512];

	if (m->kind != MAPPING_FILE)
		return false;
	text_clean(module_short_name(m->path), name, sizeof(name));
	if (here && package_has_debug_file(m->build_id))
		snprintf(buf, size, "%s: its debug file is installed: run 'skein symbolize'", name);
	else if (here && package_debug_command(m->path, command, sizeof(command)))
		snprintf(buf, size, "%s: %s", name, command);
	else if (*m->build_id)
		snprintf(buf, size, "%s: its debug file has the build-id %s", name, m->build_id);
	else
		snprintf(buf, size, "%s: has no build-id; build it with symbols", name);
	return true;
}

void report_put_named(const struct report *r, const struct screen *s)
{
	const struct named_share *n = &r->names.share;
	bool here = package_is_here(r->profile->host.machine_id), any = false;
	char text[1024];

	if (!*named_share_text(n, text, sizeof(text)))
		return;
	if (!named_share_is_low(n)) {
		screen_put_paragraph(s, "Names", STYLE_PLAIN, text);
		return;
	}
	show_modules(n, text, sizeof(text));
	screen_put_paragraph(s, "Names", STYLE_WARM, text);
	for (size_t i = 0; i < n->modules.count && i < MODULES_ADVISED; i++) {
		const struct nameless_share *m = &n->modules.items[i];

		if (!matters(n, m) || !module_advice(m, here, text, sizeof(text)))
			continue;
		screen_put_paragraph(s, "", STYLE_PLAIN, text);
		any = true;
	}
	if (any)
		screen_put_paragraph(s, "", STYLE_PLAIN, NAMED_ADVICE);
}

static void put_module(struct json *j, const struct named_share *n, const struct nameless_share *m,
		       bool here)
{
	char command[512];

	json_object(j);
	json_key_text(j, "module", m->path);
	json_key_text(j, "build_id", m->build_id);
	json_key_uint(j, "weight", m->weight);
	json_key_real(j, "share", (double)m->weight / (double)n->self);
	if (here && m->kind == MAPPING_FILE && !package_has_debug_file(m->build_id) &&
	    package_debug_command(m->path, command, sizeof(command)))
		json_key_text(j, "install", command);
	json_object_end(j);
}

void report_json_put_named(struct json *j, const struct report *r)
{
	const struct named_share *n = &r->names.share;
	bool low = named_share_is_low(n);
	bool here = low && package_is_here(r->profile->host.machine_id);

	json_key(j, "named");
	json_object(j);
	json_key_uint(j, "self", n->self);
	json_key_uint(j, "named", n->named);
	json_key_real(j, "share", (double)n->named / (double)n->self);
	json_key(j, "modules");
	json_array(j);
	for (size_t i = 0; i < n->modules.count && i < MODULES_SHOWN; i++)
		put_module(j, n, &n->modules.items[i], here && i < MODULES_ADVISED);
	json_array_end(j);
	if (low)
		json_key_text(j, "advice", NAMED_ADVICE);
	json_object_end(j);
}
