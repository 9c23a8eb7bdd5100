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
	struct message_python *python = calloc(1, sizeof(*python));

	if (!python) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	python->layout = *layout;
	python->code_type = code_type;
	return object_add(s, object, OBJECT_PYTHON, fd, python);
}

int symbolizer_ask_python(struct symbolizer *s, uint64_t object, uint64_t address, uint64_t place)
{
	const struct message_question q = {.address = address, .place = place};
	struct object *o;

	s = reader_of(s, object);
	o = object_lookup(s, object);
	return object_ask(s, o && o->kind == OBJECT_PYTHON ? o : NULL, &q);
}

int code_answer_take(struct symbolizer *s, struct request *r, size_t *at, size_t size)
{
	char name[PYTHON_NAME_MAX], file[PYTHON_FILE_MAX];
	const struct message_question *q;
	struct message_code_answer a;

	if (r->object->kind != OBJECT_PYTHON || size - *at < sizeof(a) ||
	    r->answered >= r->questions.count)
		return -EBADMSG;
	q = &r->questions.items[r->answered];
	memcpy(&a, s->payload + *at, sizeof(a));
	*at += sizeof(a);
	if (memcmp(&a.question, q, sizeof(*q)) != 0 || a.name >= sizeof(name) ||
	    a.file >= sizeof(file) || (size_t)a.name + a.file > size - *at)
		return -EBADMSG;
	memcpy(name, s->payload + *at, a.name);
	name[a.name] = '\0';
	memcpy(file, s->payload + *at + a.name, a.file);
	file[a.file] = '\0';
	*at += (size_t)a.name + a.file;
	answer_tell(s, r,
		    &(struct symbol){
			    .name = name,
			    .start = a.question.address,
			    .flags = a.flags & (SYMBOL_FOUND | SYMBOL_BAD_OBJECT |
					    SYMBOL_FREED),
			    .file = file,
			    .first_line = a.first_line,
			    .line = a.line,
		    });
	return 0;
}

int symbolizer_inspect(struct symbolizer *s, uint64_t object)
{
	struct object *o = object_lookup(s, object);
	int rc;

	if (!o || o->kind != OBJECT_ELF)
		return -ENOENT;
	if (o->inspecting)
		return 0;
	object_touch(s, o);
	rc = request_put(s, o, MESSAGE_INSPECT);
	if (!rc)
		o->inspecting = true;
	return rc;
}

void inspect_end(struct symbolizer *s, struct request *r, const struct python_file *f)
{
	struct object *o = r->object;

	o->inspecting = false;
	if (s->events.python && !o->forgotten)
		s->events.python(s->events.context, o->id, f);
	request_free(r);
}

static bool is_read(const struct python_file *f)
{
	return f->support == PYTHON_READABLE;
}

/*
 * Return whether the facts about a readable interpreter are valid; the BPF programs rely on them.
 */
static bool is_sound(const struct python_file *f)
{
	if (f->loops > PYTHON_LOOPS_MAX || !python_layout_check(&f->layout))
		return false;
	for (int i = 0; i < f->loops; i++) {
		if (f->loop[i].start >= f->loop[i].end)
			return false;
	}
	return true;
}

static int read_python(const struct symbolizer *s, size_t size, struct python_file *ret)
{
	struct python_file f;

	if (size != sizeof(f))
		return -EBADMSG;
	memcpy(&f, s->payload, sizeof(f));
	if (f.support >= PYTHON_SUPPORT_COUNT || (is_read(&f) && !is_sound(&f)))
		return -EBADMSG;
	if (!is_read(&f))
		f = (struct python_file){
			.support = f.support, .major = f.major, .minor = f.minor, .micro = f.micro};
	*ret = f;
	return 0;
}

int inspect_take(struct symbolizer *s, size_t size)
{
	struct python_file f;
	int rc = -EBADMSG;

	if (first_request(&s->sent)->type == MESSAGE_INSPECT)
		rc = read_python(s, size, &f);
	if (!rc)
		inspect_end(s, request_take(s), &f);
	return rc;
}
