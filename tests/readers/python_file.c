// SPDX-License-Identifier: Apache-2.0
/*
 * Print what an ELF file contains about the Python interpreter in it: "name value" lines, addresses
 * and offsets as decimal numbers, -1 for what a version lacks.
 *
 *   python_file FILE
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbolizers/python_file.h"

#define MEMBER(name) \
	{ \
		#name, offsetof(struct python_layout, name) \
	}

static const struct {
	const char *name;
	size_t at; /* offset of a u32 */
} members[] = {
	MEMBER(runtime_interpreters),
	MEMBER(runtime_holder),
	MEMBER(runtime_collecting),
	MEMBER(interpreter_next),
	MEMBER(interpreter_threads),
	MEMBER(interpreter_gil),
	MEMBER(interpreter_collecting),
	MEMBER(gil_holder),
	MEMBER(gil_locked),
	MEMBER(thread_next),
	MEMBER(thread_interpreter),
	MEMBER(thread_ident),
	MEMBER(thread_frame),
	MEMBER(cframe_frame),
	MEMBER(cframe_previous),
	MEMBER(frame_bytes),
	MEMBER(frame_previous),
	MEMBER(frame_code),
	MEMBER(frame_instruction),
	MEMBER(frame_owner),
	MEMBER(code_bytes),
	MEMBER(code_units),
	MEMBER(code_first_line),
	MEMBER(code_name),
	MEMBER(code_file),
	MEMBER(code_qualified_name),
	MEMBER(code_lines),
	MEMBER(text_length),
	MEMBER(text_state),
	MEMBER(text_ascii),
	MEMBER(text_compact),
	MEMBER(bytes_size),
	MEMBER(bytes_data),
	MEMBER(text_shift),
};

static void show_layout(const struct python_layout *l)
{
	printf("layout %u.%u\n", l->version >> 8, l->version & 255);
	printf("frames %u\ninstruction %u\nlines %u\n", l->frames, l->instruction, l->lines);
	printf("executable_tag %u\nshim_owner %u\n", l->executable_tag, l->shim_owner);
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		uint32_t value;

		memcpy(&value, (const char *)l + members[i].at, sizeof(value));
		printf("%s %" PRId32 "\n", members[i].name, (int32_t)value);
	}
	printf("code_id");
	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		printf(" %" PRIu32, l->code_id[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct python_file f;
	int fd, rc;

	if (argc != 2)
		return 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	rc = fd < 0 ? -1 : python_file_read(&f, fd, NULL);
	if (rc < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], fd < 0 ? "cannot open" : strerror(-rc));
		return 1;
	}
	printf("support %s\n", python_support_text(f.support));
	printf("version %u.%u.%u\n", f.major, f.minor, f.micro);
	printf("runtime %" PRIu64 "\ncode_type %" PRIu64 "\n", f.runtime, f.code_type);
	for (int i = 0; i < f.loops; i++)
		printf("loop %" PRIu64 " %" PRIu64 "\n", f.loop[i].start + f.code_delta,
		       f.loop[i].end + f.code_delta);
	if (f.layout.version)
		show_layout(&f.layout);
	return 0;
}
