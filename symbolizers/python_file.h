/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file tells of the Python interpreter in it, if there is one: an
 * executable with it built in, or libpython. Everything comes from the file
 * alone, which is hostile: bounded and checked.
 */
#ifndef SKEIN_SYMBOLIZERS_PYTHON_FILE_H
#define SKEIN_SYMBOLIZERS_PYTHON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind/python_layout.h"
#include "symbolizers/beat.h"

/* X(NAME, "what that means for its frames") */
#define PYTHON_SUPPORTS(X) \
	X(NONE, "no Python") \
	X(READABLE, "Python frames are read") \
	X(OLD, "Python before 3.8: native frames only") \
	X(FREE_THREADED, "free-threaded Python: native frames only") \
	X(UNKNOWN, "unknown Python: native frames only") \
	X(HIDDEN, "Python without symbols of its state: native frames only")

#define PYTHON_SUPPORT_ENUM(NAME, text) PYTHON_##NAME,
enum python_support { PYTHON_SUPPORTS(PYTHON_SUPPORT_ENUM) PYTHON_SUPPORT_COUNT };

#define PYTHON_LOOPS_MAX 8

struct python_file {
	uint32_t support; /* enum python_support; all below is 0 unless READABLE */
	uint8_t major, minor, micro; /* also where it is not supported, if known */
	uint8_t loops; /* of loop[] */
	/* file offsets of the code of the evaluation loop, parts split off by the compiler too */
	struct {
		uint64_t start, end;
	} loop[PYTHON_LOOPS_MAX];
	/*
	 * Addresses below are those of the file's symbols; code_delta is what to add to a file
	 * offset of its code to get such an address.
	 */
	uint64_t code_delta;
	uint64_t runtime;   /* _PyRuntime */
	uint64_t code_type; /* PyCode_Type */
	struct python_layout layout;
};

/*
 * Read what the file behind fd tells, into *ret. 0 also if there is no Python in it; -EBADMSG: no
 * ELF file, or a hostile one; or another negative errno, with *ret untouched.
 */
int python_file_read(struct python_file *ret, int fd, struct beat *b);

/* What a kind of support means, static. "?" for what is none. */
const char *python_support_text(uint32_t support);

/* python_layout.c: the layout of a version whose structs are known; NULL: none. Static. */
const struct python_layout *python_layout_of(uint8_t major, uint8_t minor);

/*
 * python_layout.c: whether a layout makes sense: every offset within bounds, what the walker reads
 * within what it reads at once. To be asked of one that came from a file or another process.
 */
bool python_layout_check(const struct python_layout *l);

/*
 * python_offsets.c: a layout from the first bytes of _PyRuntime, where interpreters from 3.13 on
 * describe themselves (struct _Py_DebugOffsets). 0 or -EBADMSG; -ENOTSUP: free-threaded. They leave
 * text_shift open: it is PYTHON_TEXT_SHIFT until python_text_shift() finds it.
 */
int python_layout_from_offsets(struct python_layout *ret, const void *bytes, size_t size);

/* Bytes of _PyRuntime, of the same bytes, which must be those of a layout. */
uint64_t python_runtime_size(const void *bytes);

/*
 * python_strings.c: text_shift, from the str objects that an interpreter has in its _PyRuntime from
 * the beginning; the layout says where their members are. bytes: all that the file has of
 * _PyRuntime. 0: there are none, or they disagree.
 */
uint32_t python_text_shift(const struct python_layout *l, const uint8_t *bytes, size_t size);

#endif
