/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to leave machine code that HotSpot has generated, found from its bytes. What a JVM makes once
 * (the interpreter, StubRoutines, stubs of the runtime) is described by rows; for compiled methods,
 * which are many, rows are made when they are needed.
 *
 * Everything here comes from a profiled process and is hostile: work is bounded, and code that
 * makes no sense has no rule.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_HOTSPOT_PATHS_H
#define SKEIN_SYMBOLIZERS_UNWIND_HOTSPOT_PATHS_H

#include "base/vector.h"
#include "symbolizers/unwind/code_state.h"
#include "symbolizers/unwind/rows.h"

enum hotspot_once_kind {
	/* many functions one after the other: StubRoutines */
	HOTSPOT_ONCE_FUNCTIONS,
	/* one function, and perhaps further beginnings: RuntimeStub and other blobs */
	HOTSPOT_ONCE_FUNCTION,
	/* functions that begin like methods of the interpreter: "MethodHandles adapters" */
	HOTSPOT_ONCE_LINKERS,
	/* a codelet of the interpreter that has a frame: all but those below */
	HOTSPOT_ONCE_CODELET,
	/* a codelet in which methods begin: its description has "method entry point" */
	HOTSPOT_ONCE_ENTRY,
	/* calls from the interpreter to compiled code, then those back: "I2C/C2I adapters" */
	HOTSPOT_ONCE_ADAPTER,
	/* looks for the handler of an exception; is jumped to with a return address in rdx */
	HOTSPOT_ONCE_EXCEPTION,
	/* replaces a frame by those of the interpreter: as HOTSPOT_ONCE_FUNCTION */
	HOTSPOT_ONCE_UNPACKING,
};

/* Code that is made once. */
struct hotspot_once_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t offset; /* of the code in the table that is built: its address minus a base */
	enum hotspot_once_kind kind;
};

/*
 * Add the rows of code that is not the interpreter's. Code whose caller is not found from a rule
 * alone becomes UNWIND_BAD. Return 0; -E2BIG; -ENOMEM.
 */
int hotspot_paths_add(struct unwind_rows *rows, const struct hotspot_once_code *code);

struct hotspot_paths_rows {
	VECTOR(struct hotspot_row) items;
};

/*
 * Append the rows of a codelet. Codelets must be added by rising offset; what lies between them
 * belongs to the one before. Return 0; -E2BIG; -ENOMEM.
 */
int hotspot_paths_append(struct hotspot_paths_rows *rows, const struct hotspot_once_code *code);

/* The kind of a blob that is no code that is made once. */
enum hotspot_compiled_kind {
	HOTSPOT_COMPILED_METHOD, /* nmethod */
	HOTSPOT_COMPILED_NATIVE, /* wrapper of a native method, linker of method handles */
	HOTSPOT_COMPILED_ADAPTER, /* "I2C/C2I adapters" */
};

/* A compiled method; code is that of the whole blob, from code_begin to code_end. */
struct hotspot_compiled {
	const uint8_t *code;
	size_t size;
	enum hotspot_compiled_kind kind;
	int32_t frame_words; /* CodeBlob._frame_size; compiled methods have at least 2 */
	int32_t complete; /* CodeBlob._frame_complete_offset: offset at which the frame is whole */
	uint32_t entry; /* offset at which the loop of an OSR method is entered; 0: none */
};

/*
 * Make the rows of code around the offset of a pc at which a thread was interrupted. Return 0;
 * -ENOENT: the state there is not known; -E2BIG; -ENOMEM. On failure *out is untouched.
 */
int hotspot_compiled_rows(struct hotspot_code_rows *out, const struct hotspot_compiled *m,
			  uint32_t at);

/* The parts of the above: follow the paths of code, of which f was initialized. */
struct code_flow;
int hotspot_paths_follow(struct code_flow *f, enum hotspot_once_kind kind);
int hotspot_compiled_follow(struct code_flow *f, const struct hotspot_compiled *m);

#endif
