// SPDX-License-Identifier: Apache-2.0
/* Applies the mappings of side-band records and of scans to the processes' address spaces. */
#include "capture/process_private.h"

#include <errno.h>
#include <string.h>

struct mapped_place process_entry_place(const struct process_entry *p)
{
	return (struct mapped_place){
		.process = p->id,
		.pid = p->pid,
		.parent = p->parent,
		/* 0 if the birth is too imprecise to be compared with that in /proc */
		.born = p->born.precision >= BIRTH_SCANNED ? p->born.ns : 0,
	};
}

/*
 * Describe a mapping of the process in *out; fills in the facts of the process in m->at. The first
 * file of a process without a known exe is taken as its program. *out is empty if the process is
 * not selected. Return 0 or -ENOMEM.
 */
static int describe_mapping(struct process_table *t, struct process_entry *p,
			    struct mapped_region *m, bool open_now, struct space_mapping *out)
{
	bool is_file = mapped_is_file(m), is_program = is_file && !p->exe;

	m->at.parent = p->parent;
	m->at.born = process_entry_place(p).born;
	if (is_program) {
		p->exe = strdup(m->path);
		p->changed = true;
	}
	if (p->outside) {
		*out = (struct space_mapping){0};
		return 0;
	}
	out->start = m->at.start;
	out->end = m->at.end;
	if (!strcmp(m->path, "[vdso]")) {
		out->object = objects_vdso(t->context.objects, m->at.start, m->at.end);
		out->offset = 0;
	} else if (is_file) {
		out->object = objects_get_file(t->context.objects, m, open_now);
		if (!out->object)
			return -ENOMEM;
		if (is_program)
			p->code.program = out->object;
	}
	process_table_mark_unsent(t, p);
	return 0;
}

int process_map(struct process_table *t, const struct life_record *l, uint64_t time,
		struct error *err)
{
	struct process_entry *p = process_table_of_pid(t, l->pid);
	struct mapped_region m = {
		.at = {.seen = time, .pid = l->pid, .start = l->start, .end = l->end},
		.file = l->file,
		.path = l->text,
	};
	struct space_mapping mapping = {.offset = l->offset};
	int ret;

	if (l->pid == UINT32_MAX)
		return 0; /* a mapping of the kernel */
	if (!p)
		p = process_add(t, l->pid, time);
	if (!p)
		return error_errno(err, -ENOMEM, "process table");
	ret = describe_mapping(t, p, &m, true, &mapping);
	if (!ret)
		ret = space_map(&p->space, &mapping);
	if (ret > 0)
		p->scan = SCAN_RUNNING;
	return ret < 0 ? error_errno(err, ret, "process table") : ret;
}

int process_table_scanned_mapping(struct process_table *t, const struct scanned_mapping *s,
				  uint64_t now)
{
	struct process_entry *p = process_table_of_pid(t, s->pid);
	struct mapped_region m = {
		.at = {.seen = now, .pid = s->pid, .start = s->start, .end = s->end},
		.file = s->id,
		.path = s->path,
	};
	struct space_mapping mapping = {.offset = s->offset};
	int ret;

	if (!p)
		return 0;
	ret = describe_mapping(t, p, &m, t->spaces.arena || t->context.opens_files, &mapping);
	return ret ? ret : space_fill(&p->space, &mapping);
}
