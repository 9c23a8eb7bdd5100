/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the Python interpreter in an ELF file, if there is one: in an executable, or in libpython.
 * Only the file is read, which is hostile: everything is bounded and checked.
 */
#ifndef SKEIN_SYMBOLIZERS_PYTHON_FILE_H
#define SKEIN_SYMBOLIZERS_PYTHON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind/python_layout.h"
#include "symbolizers/heartbeat.h"

/* X(NAME, "its meaning for Python frames") */
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
	uint32_t support; /* enum python_support; unless READABLE, only the version is set */
	uint8_t major, minor, micro; /* also set for unsupported versions, if known */
	uint8_t loops; /* number of loop[] in use */
	/*
	 * File offsets of the code of the evaluation loop, which interprets bytecode, and of the
	 * parts that the compiler split off from it; end is exclusive.
	 */
	struct {
		uint64_t start, end;
	} loop[PYTHON_LOOPS_MAX];
	/*
	 * The addresses below are those of the file's symbols. code_delta plus a file offset of the
	 * loop's code is such an address.
	 */
	uint64_t code_delta;
	uint64_t runtime; /* _PyRuntime */
	uint64_t runtime_bytes; /* its size; 0: not known */
	uint64_t code_type; /* PyCode_Type */
	struct python_layout layout;
};

/*
 * Find the interpreter in the file open as fd. Return 0, also if there is none; -EBADMSG: not an
 * ELF file, or an invalid one; or another negative errno. On failure *out is untouched. b may be
 * NULL.
 */
int python_file_read(struct python_file *out, int fd, struct heartbeat *b);

/* Return the meaning of an enum python_support as static text; "?" for another value. */
const char *python_support_text(uint32_t support);

/* The versions whose frames are read: python_layout.c, and from 3.13 on python_offsets.c. */
#define PYTHON_VERSIONS_TEXT "3.8 to 3.14"

/*
 * python_layout.c: return the layout of a version with built-in knowledge, 3.8 to 3.12, in static
 * memory; NULL for other versions.
 */
const struct python_layout *python_layout_of(uint8_t major, uint8_t minor);

/*
 * python_layout.c: return whether a layout is valid: every offset is within bounds, and the members
 * that the BPF walker reads are within the bytes that it reads at once. Check every layout from a
 * file or another process.
 */
bool python_layout_check(const struct python_layout *l);

/*
 * python_offsets.c: make a layout from the first size bytes of _PyRuntime, where interpreters from
 * 3.13 on describe themselves (struct _Py_DebugOffsets). Return 0; -EBADMSG: no description, an
 * invalid one, or one of an unknown version; -ENOTSUP: free-threaded. text_shift is not part of the
 * description: it is set to PYTHON_TEXT_SHIFT, and the caller finds it by python_text_shift().
 */
int python_layout_from_offsets(struct python_layout *out, const void *bytes, size_t size);

/*
 * Return the size of _PyRuntime in bytes, from its first bytes, which python_layout_from_offsets()
 * must have accepted.
 */
uint64_t python_runtime_size(const void *bytes);

/*
 * python_strings.c: find text_shift by the static str objects in _PyRuntime; the layout has the
 * offsets of their members. bytes: the bytes of _PyRuntime in the file. Return 0 if there are no
 * such objects, or they disagree.
 */
uint32_t python_text_shift(const struct python_layout *l, const uint8_t *bytes, size_t size);

#endif
