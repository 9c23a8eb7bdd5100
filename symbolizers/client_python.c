// SPDX-License-Identifier: Apache-2.0
/*
 * Request the interpreter in a file and the names of code objects in a process, and check the
 * replies.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizers/client_private.h"
#include "symbolizers/python_code.h"

int symbolizer_add_python(struct symbolizer *s, uint64_t object, int fd,
			  const struct python_layout *layout, uint64_t code_type)
{
	struct python_interpreter *python = calloc(1, sizeof(*python));

	if (!python) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	python->layout = *layout;
	python->code_type = code_type;
	return client_object_add(s, object, OBJECT_PYTHON, fd, python);
}

int symbolizer_lookup_python(struct symbolizer *s, uint64_t object, uint64_t address,
			     uint64_t place)
{
	const struct message_lookup q = {.address = address, .place = place};
	struct client_object *o;

	s = symbolizer_of_object(s, object);
	o = client_object_lookup(s, object);
	return client_object_request(s, o && o->kind == OBJECT_PYTHON ? o : NULL, &q);
}

int client_handle_code_reply(struct symbolizer *s, struct request *r, size_t *at, size_t size)
{
	char name[PYTHON_NAME_MAX], file[PYTHON_FILE_MAX];
	const struct message_lookup *q;
	struct message_code_reply a;

	if (r->object->kind != OBJECT_PYTHON || size - *at < sizeof(a) ||
	    r->replied >= r->lookups.count)
		return -EBADMSG;
	q = &r->lookups.items[r->replied];
	memcpy(&a, s->payload + *at, sizeof(a));
	*at += sizeof(a);
	if (memcmp(&a.lookup, q, sizeof(*q)) != 0 || a.name >= sizeof(name) ||
	    a.file >= sizeof(file) || (size_t)a.name + a.file > size - *at)
		return -EBADMSG;
	memcpy(name, s->payload + *at, a.name);
	name[a.name] = '\0';
	memcpy(file, s->payload + *at + a.name, a.file);
	file[a.file] = '\0';
	*at += (size_t)a.name + a.file;
	request_pass_reply(
		s, r,
		&(struct symbol){
			.name = name,
			.start = a.lookup.address,
			.flags = a.flags & (SYMBOL_FOUND | SYMBOL_BAD_OBJECT | SYMBOL_FREED),
			.file = file,
			.first_line = a.first_line,
			.line = a.line,
		});
	return 0;
}

int symbolizer_inspect(struct symbolizer *s, uint64_t object)
{
	struct client_object *o = client_object_lookup(s, object);
	int ret;

	if (!o || o->kind != OBJECT_ELF)
		return -ENOENT;
	if (o->inspecting)
		return 0;
	client_object_touch(s, o);
	ret = request_submit(s, o, MESSAGE_INSPECT);
	if (!ret)
		o->inspecting = true;
	return ret;
}

void request_end_inspect(struct symbolizer *s, struct request *r, const struct python_file *f)
{
	struct client_object *o = r->object;

	o->inspecting = false;
	if (s->events.python && !o->forgotten)
		s->events.python(s->events.context, o->id, f);
	request_free(r);
}

static bool is_interpreter_readable(const struct python_file *f)
{
	return f->support == PYTHON_READABLE;
}

/*
 * Return whether the facts about a readable interpreter are valid; the BPF programs rely on them.
 */
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

static int read_python_reply(const struct symbolizer *s, size_t size, struct python_file *out)
{
	struct python_file f;

	if (size != sizeof(f))
		return -EBADMSG;
	memcpy(&f, s->payload, sizeof(f));
	if (f.support >= PYTHON_SUPPORT_COUNT ||
	    (is_interpreter_readable(&f) && !is_interpreter_valid(&f)))
		return -EBADMSG;
	if (!is_interpreter_readable(&f))
		f = (struct python_file){
			.support = f.support, .major = f.major, .minor = f.minor, .micro = f.micro};
	*out = f;
	return 0;
}

int client_handle_python(struct symbolizer *s, size_t size)
{
	struct python_file f;
	int ret = -EBADMSG;

	if (request_first(&s->sent)->type == MESSAGE_INSPECT)
		ret = read_python_reply(s, size, &f);
	if (!ret)
		request_end_inspect(s, request_complete_first(s), &f);
	return ret;
}
