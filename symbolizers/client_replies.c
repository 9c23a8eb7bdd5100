// SPDX-License-Identifier: Apache-2.0
/* Decode and check the records and structs in the worker's replies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/client_replies.h"
#include "symbolizers/python_code.h"

/* Largest errno. */
#define ERRNO_MAX 4095

/* Return the next size bytes and advance past them; NULL if fewer are left. */
static const char *take_bytes(struct reply_reader *from, size_t size)
{
	const char *bytes = from->at;

	if (size > from->left)
		return NULL;
	from->at += size;
	from->left -= size;
	return bytes;
}

static bool take_struct(void *out, size_t size, struct reply_reader *from)
{
	const char *bytes = take_bytes(from, size);

	return bytes && memcpy(out, bytes, size);
}

/*
 * Copy the next size bytes, at most REPLY_NAME_MAX, as a text with a NUL; return false on failure.
 */
static bool take_text(char *out, size_t size, struct reply_reader *from)
{
	if (size > REPLY_NAME_MAX || !take_struct(out, size, from))
		return false;
	out[size] = '\0';
	return true;
}

int reply_read_symbol(struct symbol_reply *out, struct reply_reader *from,
		      const struct message_lookup *q)
{
	struct message_reply a;

	if (!take_struct(&a, sizeof(a), from) || a.address != q->address ||
	    !take_text(out->name, a.name, from) || !take_text(out->other, a.system_name, from))
		return -EBADMSG;
	out->symbol = (struct symbol){
		.name = out->name,
		.system_name = out->other,
		.start = a.start,
		.size = a.size,
		.flags = a.flags &
			 (SYMBOL_FOUND | SYMBOL_START | SYMBOL_BAD_OBJECT | SYMBOL_MANGLED),
	};
	return 0;
}

int reply_read_code(struct symbol_reply *out, struct reply_reader *from,
		    const struct message_lookup *q)
{
	struct message_code_reply a;

	if (!take_struct(&a, sizeof(a), from) || memcmp(&a.lookup, q, sizeof(*q)) != 0 ||
	    a.name >= PYTHON_NAME_MAX || a.file >= PYTHON_FILE_MAX ||
	    !take_text(out->name, a.name, from) || !take_text(out->other, a.file, from))
		return -EBADMSG;
	out->symbol = (struct symbol){
		.name = out->name,
		.start = a.lookup.address,
		.flags = a.flags & (SYMBOL_FOUND | SYMBOL_BAD_OBJECT | SYMBOL_FREED),
		.file = out->other,
		.first_line = a.first_line,
		.line = a.line,
	};
	return 0;
}

int reply_read_place(struct place_records *to, struct reply_reader *from, uint64_t address,
		     uint32_t *flags)
{
	const char *record = from->at;
	struct message_place m;
	size_t texts;

	if (!take_struct(&m, sizeof(m), from))
		return -EBADMSG;
	texts = (size_t)m.name + m.system_name + m.declared + m.file;
	if (m.address != address || !take_bytes(from, texts) || m.name > REPLY_NAME_MAX ||
	    m.system_name > REPLY_NAME_MAX || m.declared > REPLY_NAME_MAX ||
	    m.file > REPLY_NAME_MAX || to->count == SOURCE_PLACES_MAX || m.line > INT32_MAX ||
	    m.declared_line > INT32_MAX || (!(m.flags & PLACE_KNOWN) && to->count))
		return -EBADMSG;
	if (vector_reserve(&to->bytes, sizeof(m) + texts) < 0)
		return -ENOMEM;
	memcpy(to->bytes.items + to->bytes.count, record, sizeof(m) + texts);
	to->bytes.count += sizeof(m) + texts;
	to->count++;
	*flags = m.flags;
	return 0;
}

/* Copy a text of size bytes to *to, append a NUL, advance both pointers, and return the copy. */
static const char *copy_place_text(char **to, const char **from, uint16_t size)
{
	char *text = *to;

	memcpy(text, *from, size);
	text[size] = '\0';
	*from += size;
	*to += size + 1;
	return text;
}

/*
 * Decode the record that at points to. Its texts are copied to *room, which has space for a NUL
 * after each of them. Return the end of the record.
 */
static const char *decode_place_record(struct source_place *out, const char *at, char **room)
{
	struct message_place m;

	memcpy(&m, at, sizeof(m));
	at += sizeof(m);
	*out = (struct source_place){.line = m.line, .declared_line = m.declared_line};
	out->name = copy_place_text(room, &at, m.name);
	out->system_name = copy_place_text(room, &at, m.system_name);
	out->declared = copy_place_text(room, &at, m.declared);
	out->file = copy_place_text(room, &at, m.file);
	return at;
}

int place_records_decode(const struct place_records *records,
			 struct source_place out[SOURCE_PLACES_MAX], char **texts)
{
	const char *at = records->bytes.items;
	char *room = malloc(records->bytes.count + 4 * (size_t)records->count);

	if (!room)
		return -ENOMEM;
	*texts = room;
	for (unsigned int i = 0; i < records->count; i++)
		at = decode_place_record(&out[i], at, &room);
	return 0;
}

static bool is_text_terminated(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

static bool is_hex_text(const char *text, size_t size)
{
	return is_text_terminated(text, size) && text[strspn(text, "0123456789abcdef")] == '\0';
}

/*
 * Clear a build-id or debug link that is invalid, since both become parts of paths that a
 * privileged process opens.
 */
static void check_object_facts(struct object_facts *f)
{
	if (!is_hex_text(f->build_id, sizeof(f->build_id)))
		f->build_id[0] = '\0';
	if (!is_text_terminated(f->debuglink, sizeof(f->debuglink)) || strchr(f->debuglink, '/') ||
	    strcmp(f->debuglink, ".") == 0 || strcmp(f->debuglink, "..") == 0)
		f->debuglink[0] = '\0';
}

/* Check bools as bytes: to read a bool with a value other than 0 and 1 is undefined behaviour. */
int reply_read_facts(struct object_facts *out, const struct reply_reader *from)
{
	if (from->left != sizeof(*out) ||
	    from->at[offsetof(struct object_facts, wants_debug)] & ~1 ||
	    from->at[offsetof(struct object_facts, bad)] & ~1 ||
	    from->at[offsetof(struct object_facts, hidden)] & ~1)
		return -EBADMSG;
	memcpy(out, from->at, sizeof(*out));
	check_object_facts(out);
	return 0;
}

/*
 * Check the texts, since they become parts of paths that a privileged process opens; that process
 * checks the paths again.
 */
static bool are_source_facts_valid(const struct source_facts *f)
{
	return f->status <= 0 && f->status >= -ERRNO_MAX &&
	       is_hex_text(f->build_id, sizeof(f->build_id)) &&
	       is_hex_text(f->common_id, sizeof(f->common_id)) &&
	       is_text_terminated(f->common, sizeof(f->common)) &&
	       is_text_terminated(f->debuglink, sizeof(f->debuglink)) && !strchr(f->debuglink, '/');
}

int reply_read_source_facts(struct source_facts *out, const struct reply_reader *from)
{
	if (from->left != sizeof(*out) ||
	    from->at[offsetof(struct source_facts, wants_debug)] & ~1 ||
	    from->at[offsetof(struct source_facts, wants_common)] & ~1)
		return -EBADMSG;
	memcpy(out, from->at, sizeof(*out));
	return are_source_facts_valid(out) ? 0 : -EBADMSG;
}

/* Check the facts about an interpreter that can be read, since the BPF programs rely on them. */
static bool is_interpreter_valid(const struct python_file *f)
{
	if (f->loops > PYTHON_LOOPS_MAX || !python_layout_check(&f->layout))
		return false;
	for (int i = 0; i < f->loops; i++) {
		if (f->loop[i].start >= f->loop[i].end)
			return false;
	}
	return true;
}

int reply_read_inspected(struct inspected_file *out, const struct reply_reader *from)
{
	struct inspected_file f;
	struct python_file *p = &f.python;

	if (from->left != sizeof(f))
		return -EBADMSG;
	memcpy(&f, from->at, sizeof(f));
	if (p->support == PYTHON_READABLE ? !is_interpreter_valid(p)
					  : p->support >= PYTHON_SUPPORT_COUNT)
		return -EBADMSG;
	if (p->support != PYTHON_READABLE)
		*p = (struct python_file){.support = p->support,
					  .major = p->major,
					  .minor = p->minor,
					  .micro = p->micro};
	*out = f;
	return 0;
}

int reply_read_jvm(struct message_jvm *out, const struct reply_reader *from)
{
	if (from->left != sizeof(*out))
		return -EBADMSG;
	memcpy(out, from->at, sizeof(*out));
	if (out->status > 0 || out->status < -ERRNO_MAX ||
	    !is_text_terminated(out->reason, sizeof(out->reason)) ||
	    (!out->status && !hotspot_facts_check(&out->jvm.facts)) ||
	    out->jvm.row_count > HOTSPOT_ROWS_MAX)
		return -EBADMSG;
	return 0;
}

int reply_read_counters(struct message_jvm_counters *out, const struct reply_reader *from)
{
	if (from->left != sizeof(*out))
		return -EBADMSG;
	memcpy(out, from->at, sizeof(*out));
	if (out->status > 0 || out->status < -ERRNO_MAX ||
	    !is_text_terminated(out->reason, sizeof(out->reason)) ||
	    (!out->status && !hotspot_perf_check(&out->perf)))
		return -EBADMSG;
	return 0;
}

int reply_read_threads(struct message_thread_list *out, const struct reply_reader *from,
		       uint32_t count)
{
	if (count > THREADS_PER_MESSAGE ||
	    from->left != sizeof(*out) + count * sizeof(struct hotspot_thread))
		return -EBADMSG;
	memcpy(out, from->at, sizeof(*out));
	if (out->status > 0 || out->status < -ERRNO_MAX || out->last > 1 ||
	    !is_text_terminated(out->reason, sizeof(out->reason)) ||
	    (out->status && (count || !out->last)) ||
	    (!out->status && !hotspot_thread_layout_check(&out->layout)))
		return -EBADMSG;
	return 0;
}

static bool are_rows_valid(const struct hotspot_code_rows *r)
{
	if (!r->count || r->count > HOTSPOT_CODE_ROWS_MAX)
		return false;
	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t end = i + 1 < r->count ? r->rows[i + 1].offset : r->end;

		if (r->rows[i].offset >= end)
			return false;
	}
	return true;
}

int reply_read_java_rows(struct message_java_rows *out, const struct reply_reader *from,
			 const struct message_lookup *lookup)
{
	if (from->left != sizeof(*out))
		return -EBADMSG;
	memcpy(out, from->at, sizeof(*out));
	if (out->status > 0 || out->status < -ERRNO_MAX ||
	    (!out->status && !are_rows_valid(&out->rows)) ||
	    memcmp(&out->lookup, lookup, sizeof(*lookup)) != 0)
		return -EBADMSG;
	return 0;
}

int reply_read_probes(struct message_probes *out, const struct reply_reader *from, uint64_t size,
		      unsigned int patterns)
{
	const size_t head = offsetof(struct message_probes, found.sites);

	if (from->left < head || from->left > sizeof(*out))
		return -EBADMSG;
	memset(out, 0, sizeof(*out));
	memcpy(out, from->at, from->left);
	if (out->status > 0 || out->status < -ERRNO_MAX || out->found.count > PROBE_SITES_MAX ||
	    from->left != head + out->found.count * sizeof(out->found.sites[0]) ||
	    (out->status && out->found.count) || !probe_sites_check(&out->found, size, patterns))
		return -EBADMSG;
	return 0;
}

/* Check the build-id, since it becomes a part of the name of a file in the cache. */
int reply_read_key(struct unwind_key *out, const struct reply_reader *from)
{
	if (from->left != sizeof(*out))
		return -EBADMSG;
	memcpy(out, from->at, sizeof(*out));
	return is_hex_text(out->build_id, sizeof(out->build_id)) ? 0 : -EBADMSG;
}
