/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Java frames, from the memory of their process. The memory is hostile and changes while
 * it is read: everything is bounded, and a result is only used if the method was the same before
 * and after reading.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_NAMES_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_NAMES_H

#include "symbolizers/hotspot_decode.h"
#include "symbolizers/hotspot_layout.h"

/* Maximum sizes in bytes of UTF-8, NUL included; longer texts are cut, and end with U+2026. */
#define HOTSPOT_CLASS_MAX 1024
#define HOTSPOT_NAME_MAX 512 /* of methods and stubs */
#define HOTSPOT_SIGNATURE_MAX 1024
#define HOTSPOT_FILE_MAX 512

enum hotspot_frame_kind {
	HOTSPOT_FRAME_COMPILED = 1,
	HOTSPOT_FRAME_INTERPRETED,
	HOTSPOT_FRAME_BLOB,
	HOTSPOT_FRAME_CLASS, /* no frame: a class, by the Symbol of its name */
};

/* A frame from the BPF walker. */
struct hotspot_lookup {
	uint32_t kind; /* enum hotspot_frame_kind */
	uint64_t address; /* of the nmethod, the Method, the blob or the Symbol */
	/*
	 * HOTSPOT_COMPILED_PLACE(), _INTERPRETED_PLACE() or _BLOB_PLACE(); of a Symbol, the random
	 * number (16 bits) by which another one at its address differs, 0: not known
	 */
	uint64_t place;
};

/* A method that runs in the frame; several if some are inlined. */
struct hotspot_frame {
	const char *class_name; /* "java.util.HashMap$Node"; "" for a stub */
	const char *method; /* "get", "<init>"; of a stub, its name; "" for a class */
	const char *signature; /* "(Ljava/lang/Object;)Z"; "" for a stub */
	const char *file; /* "HashMap.java"; "" unknown */
	uint32_t line; /* 0 unknown */
	int32_t bci; /* index of the bytecode; -1: none, or not known */
	bool inlined; /* into the next frame */
	/*
	 * the interrupted instruction has no description, and that of the next one that has is
	 * used: methods inlined there may differ
	 */
	bool inferred;
};

/* What is known of the methods of one process. */
struct hotspot_names;

/*
 * Get ready to read names in a process that has these tables. Return 0, -ENOENT or -EINVAL with the
 * entry in the message, or -ENOMEM.
 */
int hotspot_names_new(struct hotspot_names **out, const struct hotspot_tables *t,
		      struct error *err);
void hotspot_names_free(struct hotspot_names *n);

/*
 * Find the methods of a frame, innermost first. memory: NULL if the process's memory is not open
 * any more: then only methods that were read before have names. Return their number; -ESTALE: the
 * address now has something else; -EFAULT: the memory cannot be read; -EBADMSG: its contents are
 * invalid, or the kind is; -ENOMEM. Texts are valid until the next call for n.
 */
int hotspot_names_find(struct hotspot_names *n, const struct hotspot_memory *memory,
		       const struct hotspot_lookup *q,
		       struct hotspot_frame out[HOTSPOT_FRAMES_MAX]);

/*
 * Return the bytes of all that is kept; and drop the least recently used until they are at most
 * limit. What the last call has found is dropped last: with a limit of 16 MiB or more, it stays.
 */
size_t hotspot_names_bytes(const struct hotspot_names *n);
void hotspot_names_trim(struct hotspot_names *n, size_t limit);

#endif
