// SPDX-License-Identifier: Apache-2.0
/*
 * Open files for lookups of lines. libdw frees the memory that it takes for a file only when the
 * file is closed, so files are closed when memory runs short, and opened again on request.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/worker_places.h"

/*
 * Shares of the worker's memory: the limit for the debugging information read from one file, and
 * the level above which files are closed.
 */
#define MEMORY_OF_FILE(memory) ((memory) / 2)
#define MEMORY_FULL(memory) ((memory) / 8 * 7)

void worker_places_close(struct place_file *f)
{
	if (!f->open)
		return;
	dwarf_places_close(f->open);
	free(f->open);
	f->open = NULL;
}

void worker_places_open(struct place_file *f, const struct elf_files *files, uint64_t memory)
{
	int rc = files->file.fd < 0 ? -EBADF : 0;

	worker_places_close(f);
	/* clear padding as well, since the struct is sent as it is */
	memset(&f->facts, 0, sizeof(f->facts));
	f->examined = true;
	if (!rc)
		f->open = calloc(1, sizeof(*f->open));
	if (!rc && !f->open)
		rc = -ENOMEM;
	if (!rc)
		rc = dwarf_places_open(f->open, files, MEMORY_OF_FILE(memory), &f->facts);
	f->facts.status = rc;
	if (rc < 0)
		worker_places_close(f);
}

bool worker_places_full(uint64_t memory)
{
	struct mallinfo2 used = {0};

	/*
	 * AddressSanitizer has a heap of its own. mallinfo2() would then initialize glibc's heap by
	 * system calls that the worker is not allowed, so builds with it never report full memory.
	 */
#ifndef __SANITIZE_ADDRESS__
	used = mallinfo2();
#endif
	return used.uordblks + used.hblkhd > MEMORY_FULL(memory);
}

/* The position at which the next text is written. */
struct place_texts {
	char *at;
};

static uint16_t put_place_text(struct place_texts *t, const char *text)
{
	size_t size = demangle_copy_cut(text, t->at, REPLY_NAME_MAX + 1);

	t->at += size;
	return (uint16_t)size;
}

static uint16_t put_place_path(struct place_texts *t, const char *folder, const char *file)
{
	size_t size = strlen(folder);

	if (*file == '/' || *folder != '/' || !*file || size >= REPLY_NAME_MAX / 2)
		return put_place_text(t, file);
	memcpy(t->at, folder, size);
	t->at[size++] = '/';
	size += demangle_copy_cut(file, t->at + size, REPLY_NAME_MAX + 1 - size);
	t->at += size;
	return (uint16_t)size;
}

size_t worker_place_write(char to[PLACE_RECORD_MAX], uint64_t address, const struct dwarf_place *p,
			  bool last, struct demangler *d)
{
	struct place_texts texts = {.at = to + sizeof(struct message_place)};
	struct message_place m;
	const char *demangled;

	memset(&m, 0, sizeof(m));
	m.address = address;
	m.flags = (last ? PLACE_LAST : 0) | (p ? PLACE_KNOWN : 0);
	if (p) {
		demangled = demangler_get(d, p->name);
		if (!demangled && demangler_refused(d))
			m.flags |= PLACE_MANGLED;
		m.line = p->line;
		m.declared_line = p->declared_line;
		m.name = put_place_text(&texts, demangled ? demangled : p->name);
		m.system_name = put_place_text(&texts, demangled ? p->name : "");
		m.declared = put_place_path(&texts, p->folder, p->declared);
		m.file = put_place_path(&texts, p->folder, p->file);
	}
	memcpy(to, &m, sizeof(m));
	return sizeof(m) + m.name + m.system_name + m.declared + m.file;
}
