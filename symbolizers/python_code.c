// SPDX-License-Identifier: Apache-2.0
/*
 * Read one code object while its process is running. The result is only used if the object was the
 * same before and after reading.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/python_code.h"

/* All members of a code object that are read end within these bytes, which are read at once. */
#define HEAD_BYTES 512
#define OBJECT_REFERENCES 0 /* ob_refcnt, at the same place in every object */

struct code_head {
	unsigned char bytes[HEAD_BYTES];
};

static bool read_code_memory(const struct python_memory *m, void *to, size_t size, uint64_t address)
{
	return address + size > address && m->read(m->context, to, size, address);
}

static uint64_t head_word(const struct code_head *h, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, h->bytes + offset, sizeof(word));
	return word;
}

static size_t later_end(size_t a, size_t b)
{
	return a > b ? a : b;
}

static bool has_qualified_name(const struct python_layout *l)
{
	return l->code_qualified_name != PYTHON_ABSENT;
}

/*
 * Return how many bytes of a code object to read, up to the end of the last member in use. The
 * caller rejects a layout that needs more than HEAD_BYTES.
 */
static size_t head_size(const struct python_layout *l)
{
	size_t size = later_end(l->code_bytes, PYTHON_OBJECT_TYPE + sizeof(uint64_t));

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		size = later_end(size, l->code_id[i] + sizeof(uint64_t));
	if (has_qualified_name(l))
		size = later_end(size, l->code_qualified_name + sizeof(uint64_t));
	size = later_end(size, l->code_name + sizeof(uint64_t));
	size = later_end(size, l->code_file + sizeof(uint64_t));
	size = later_end(size, l->code_lines + sizeof(uint64_t));
	return later_end(size, l->code_first_line + sizeof(uint32_t));
}

/*
 * Return whether the object is allocated. A freed object keeps its members until its memory is used
 * again, but the names that they point to may have been replaced already. When an object is freed,
 * Python's allocator overwrites the reference count with a pointer or 0, and the C library's also
 * overwrites the type.
 */
static bool is_code_alive(const struct code_head *h, const struct python_layout *l)
{
	uint64_t references = head_word(h, OBJECT_REFERENCES);

	if (l->version >= PYTHON_VERSION(3, 14)) /* the upper 16 bits hold flags */
		references &= UINT64_MAX >> 16;
	return references && references <= UINT32_MAX;
}

/*
 * Return the id of the str at address, as the BPF walker computes it (bpf/unwind/python.h). Return
 * 0 if the str has no characters directly after its head, or they cannot be read.
 */
static uint64_t code_text_id(const struct python_memory *memory, const struct python_layout *layout,
			     uint64_t address)
{
	const size_t half = PYTHON_CHARACTERS_MAX / 2;
	__u64 words[PYTHON_TEXT_HEAD_WORDS], characters[PYTHON_CHARACTERS_WORDS] = {0};
	struct python_characters c;
	bool all;

	if (!read_code_memory(memory, words, sizeof(words), address))
		return 0;
	c = python_find_characters(layout, address, words);
	if (!c.size)
		return 0;
	if (c.size <= PYTHON_CHARACTERS_MAX)
		all = read_code_memory(memory, characters, (size_t)c.size, c.from);
	else
		all = read_code_memory(memory, characters, half, c.from) &&
		      read_code_memory(memory, characters + half / 8, half, c.from + c.size - half);
	return all ? python_text_id(c.size, characters) : 0;
}

/*
 * Return whether the code object has this id. The BPF walker cannot read a name in a page that the
 * process has not touched (static objects in a file), and leaves such a name out of the id. So try
 * all subsets of the names.
 */
static bool code_has_id(const struct code_head *h, const struct python_memory *memory,
			const struct python_layout *layout, uint32_t id)
{
	const uint64_t name = head_word(h, layout->code_name);
	__u64 words[PYTHON_ID_WORDS], every[PYTHON_SHOWN_COUNT] = {0}, shown[PYTHON_SHOWN_COUNT];
	uint64_t qualified = name;

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		words[i] = head_word(h, layout->code_id[i]);
	if (!layout->id_by_text)
		return python_code_id(words) == id;
	if (has_qualified_name(layout))
		qualified = head_word(h, layout->code_qualified_name);
	every[PYTHON_SHOWN_NAME] = code_text_id(memory, layout, name);
	if (qualified != name)
		every[PYTHON_SHOWN_QUALIFIED] = code_text_id(memory, layout, qualified);
	every[PYTHON_SHOWN_FILE] = code_text_id(memory, layout, head_word(h, layout->code_file));
	for (unsigned int left_out = 0; left_out < 1 << PYTHON_SHOWN_COUNT; left_out++) {
		for (int i = 0; i < PYTHON_SHOWN_COUNT; i++)
			shown[i] = left_out >> i & 1 ? 0 : every[i];
		if (python_code_id_with_names(python_code_id(words), shown) == id)
			return true;
	}
	return false;
}

/*
 * Read the members of the code object at address, and check that it is alive and has this id.
 * Errors as for python_code_read().
 */
static int read_code_head(struct code_head *out, const struct python_memory *memory,
			  const struct python_interpreter *python, uint64_t address, uint32_t id)
{
	const struct python_layout *layout = &python->layout;
	size_t size = head_size(layout);

	if (size > sizeof(out->bytes))
		return -EBADMSG;
	if (!read_code_memory(memory, out->bytes, size, address))
		return -EFAULT;
	if (head_word(out, PYTHON_OBJECT_TYPE) != python->code_type || !is_code_alive(out, layout))
		return -ESTALE;
	return code_has_id(out, memory, layout, id) ? 0 : -ESTALE;
}

static int read_code_text(char **out, size_t room, const struct python_memory *memory,
			  const struct python_layout *layout, uint64_t address)
{
	char text[PYTHON_FILE_MAX];
	int ret = python_text_read(text, room, memory, layout, address);

	if (ret)
		return ret;
	*out = strdup(text);
	return *out ? 0 : -ENOMEM;
}

/* Return whether the last part of a qualified name ("Shop.work") is the name ("work"). */
static bool ends_with_name(const char *qualified, const char *name)
{
	size_t whole = strlen(qualified), size = strlen(name);

	if (size > whole || strcmp(qualified + whole - size, name))
		return false;
	return size == whole || qualified[whole - size - 1] == '.';
}

/*
 * Read the name to show: the qualified name, unless the program has renamed the code. A program
 * that makes many functions from one (numpy's "public_api") sets co_name alone, while co_qualname
 * still names the place where the code was written. The qualified name is also used if co_name is
 * empty or unreadable, or if the qualified name was cut. Before 3.11, there is only co_name.
 */
static int read_code_name(char **out, const struct code_head *h, const struct python_memory *memory,
			  const struct python_layout *layout)
{
	uint64_t plain = head_word(h, layout->code_name), address = plain;
	char *name = NULL, *qualified;
	int ret;

	if (has_qualified_name(layout))
		address = head_word(h, layout->code_qualified_name);
	ret = read_code_text(&qualified, PYTHON_NAME_MAX, memory, layout, address);
	if (ret)
		return ret;
	if (address != plain && !python_text_is_cut(qualified, PYTHON_NAME_MAX))
		ret = read_code_text(&name, PYTHON_NAME_MAX, memory, layout, plain);
	if (ret == -ENOMEM) {
		free(qualified);
		return ret;
	}
	if (name && *name && !ends_with_name(qualified, name)) {
		free(qualified);
		*out = name;
	} else {
		free(name);
		*out = qualified;
	}
	return 0;
}

/*
 * Read the table of lines, a bytes object at address. Return 0, also if it cannot be read or is too
 * long, since names are useful without lines; or -ENOMEM.
 */
static int read_code_lines(struct python_code *c, const struct python_memory *memory,
			   const struct python_layout *layout, uint64_t address)
{
	uint8_t *lines;
	int64_t size;

	if (!read_code_memory(memory, &size, sizeof(size), address + layout->bytes_size) ||
	    size < 0 || size > PYTHON_LINES_MAX)
		return 0;
	/* an empty table is valid: up to 3.9, all code is then on the first line */
	lines = malloc((size_t)size + 1);
	if (!lines)
		return -ENOMEM;
	if (size && !read_code_memory(memory, lines, (size_t)size, address + layout->bytes_data)) {
		free(lines);
		return 0;
	}
	c->lines = lines;
	c->lines_size = (size_t)size;
	return 0;
}

static int read_code_parts(struct python_code *c, const struct code_head *h,
			   const struct python_memory *memory, const struct python_layout *layout)
{
	int ret = read_code_name(&c->name, h, memory, layout);

	if (!ret)
		ret = read_code_text(&c->file, PYTHON_FILE_MAX, memory, layout,
				     head_word(h, layout->code_file));
	if (!ret)
		ret = read_code_lines(c, memory, layout, head_word(h, layout->code_lines));
	memcpy(&c->first_line, h->bytes + layout->code_first_line, sizeof(c->first_line));
	return ret;
}

int python_code_read(struct python_code *out, const struct python_memory *memory,
		     const struct python_interpreter *python, uint64_t address, uint32_t id)
{
	struct python_code c = {.id = id};
	struct code_head before, after;
	int ret = read_code_head(&before, memory, python, address, id), late;

	if (ret)
		return ret;
	ret = read_code_parts(&c, &before, memory, &python->layout);
	/* its error comes first: the parts that were read may belong to another object */
	late = read_code_head(&after, memory, python, address, id);
	if (late)
		ret = late;
	if (ret)
		python_code_free(&c);
	else
		*out = c;
	return ret;
}

void python_code_free(struct python_code *c)
{
	free(c->name);
	free(c->file);
	free(c->lines);
	*c = (struct python_code){0};
}

uint32_t python_code_line(const struct python_code *c, const struct python_layout *layout,
			  uint32_t unit)
{
	if (!c->lines && unit != UINT32_MAX)
		return 0;
	return python_line_of(layout->lines, c->lines, c->lines_size, c->first_line, unit);
}
