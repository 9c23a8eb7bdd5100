// SPDX-License-Identifier: Apache-2.0
/* Numbers the JVMs and their layouts, and finds libjvm in address spaces. */
#include "capture/jvms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Get the number of a layout + 1; a new one is sent first. Return 0 or a negative errno. */
static int layout_number(struct jvms *j, const struct hotspot_layout *l, uint32_t *out)
{
	uint32_t i = 0;
	int ret;

	while (i < j->layout_count && memcmp(&j->layouts[i], l, sizeof(*l)) != 0)
		i++;
	if (i == HOTSPOT_LAYOUTS_MAX)
		return -ENOSPC;
	if (i == j->layout_count) {
		ret = j->send_layout(j->context, i, l);
		if (ret)
			return ret;
		j->layouts[j->layout_count++] = *l;
	}
	*out = i + 1;
	return 0;
}

static uint32_t free_index(const struct jvms *j)
{
	uint32_t i = 0;

	while (i < HOTSPOT_PROCESSES_MAX && j->objects[i])
		i++;
	return i;
}

static void describe_process(struct hotspot_process *p, const struct object *o,
			     const struct jvm_facts *jvm)
{
	const struct hotspot_facts *facts = &jvm->facts;

	p->table = jvm->has_table ? o->table : UNWIND_SLOT_NONE;
	p->base = jvm->base;
	p->row_count = jvm->row_count;
	memcpy(p->rows, jvm->rows, sizeof(p->rows));
	p->range_count = facts->range_count;
	memcpy(p->ranges, facts->ranges, sizeof(p->ranges));
	p->unloads = facts->unloads;
	p->interpreter_low = facts->interpreter_low;
	p->interpreter_high = facts->interpreter_high;
}

int jvms_send(struct jvms *j, const struct object *o, const struct jvm_facts *facts,
	      uint32_t *number)
{
	uint32_t index = *number ? HOTSPOT_NUMBER_INDEX(*number) : free_index(j);
	struct hotspot_process *p;
	int ret;

	if (index == HOTSPOT_PROCESSES_MAX)
		return -ENOSPC;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	ret = layout_number(j, &facts->facts.layout, &p->layout);
	if (ret)
		goto end;
	/* 0 stands for no JVM */
	if (!*number && !(++j->generation & 0xffffff))
		j->generation++;
	p->number = *number ? *number : HOTSPOT_NUMBER(index, j->generation & 0xffffff);
	describe_process(p, o, facts);
	ret = j->send_process(j->context, index, p);
	if (!ret) {
		j->objects[index] = o->id;
		*number = p->number;
	}
end:
	free(p);
	return ret;
}

void jvms_locate(struct hotspot_file *f, uint64_t start, uint64_t offset)
{
	for (int n = 0; n < HOTSPOT_OBJECTS; n++)
		f->objects.address[n] += start - offset - f->code_delta;
}

bool jvms_find(struct hotspot_file *out, const struct space *s)
{
	for (size_t i = 0; i < s->mappings.count; i++) {
		const struct space_mapping *m = &s->mappings.items[i];
		const struct hotspot_file *f = m->object ? m->object->java.file : NULL;

		if (!f)
			continue;
		*out = *f;
		jvms_locate(out, m->start, m->offset);
		return true;
	}
	return false;
}

void jvms_describe(char *buf, size_t size, int status, const struct jvm_facts *f,
		   const char *reason)
{
	if (status)
		snprintf(buf, size, "HotSpot, its frames are not read: %s",
			 *reason ? reason : strerror(-status));
	else
		snprintf(buf, size, "HotSpot %s, its frames are read, DebugNonSafepoints is %s",
			 f->facts.version, f->facts.debug_non_safepoints ? "on" : "off");
}
