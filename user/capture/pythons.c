// SPDX-License-Identifier: Apache-2.0
/* Finds Python interpreters in address spaces. */
#include "capture/pythons.h"

#include <string.h>

uint32_t pythons_layout(struct pythons *p, const struct python_layout *l)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (!memcmp(&p->layouts[i], l, sizeof(*l)))
			return i + 1;
	if (p->count == PYTHON_LAYOUTS_MAX || p->send(p->context, p->count, l))
		return 0;
	p->layouts[p->count++] = *l;
	return p->count;
}

static const struct space_mapping *interpreter_mapping(const struct space *s)
{
	for (size_t i = 0; i < s->mappings.count; i++) {
		const struct space_mapping *m = &s->mappings.items[i];

		if (m->object && m->object->python.layout)
			return m;
	}
	return NULL;
}

struct python_process pythons_at(const struct object *o, uint64_t start, uint64_t offset)
{
	const struct python_file *f = o->python.file;
	uint64_t bias = start - offset - f->code_delta;

	return (struct python_process){
		.runtime = f->runtime + bias,
		.code_type = f->code_type + bias,
		.layout = o->python.layout,
		.runtime_bytes = f->runtime_bytes <= UINT32_MAX ? (uint32_t)f->runtime_bytes : 0,
	};
}

struct python_process pythons_of(const struct space *s)
{
	const struct space_mapping *m = interpreter_mapping(s);

	return m ? pythons_at(m->object, m->start, m->offset) : (struct python_process){0};
}

const struct python_file *pythons_file_of(const struct space *s)
{
	const struct space_mapping *m = interpreter_mapping(s);

	return m ? m->object->python.file : NULL;
}
