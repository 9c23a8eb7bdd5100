/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of methods, of nmethods, and of names. */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_NAMES_PRIVATE_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_NAMES_PRIVATE_H

#include "symbolizers/hotspot_names.h"

/* Offsets of the members by which a Method leads to its names and lines. */
struct hotspot_method_offsets {
	uint16_t const_method; /* in Method */
	/* in ConstMethod; size: int, in words; flags: the lowest bit: there is a table of lines */
	uint16_t const_bytes, constants, const_size, flags;
	uint16_t code_size, name, signature, number; /* u16 each */
	uint16_t pool_bytes, holder, source; /* in ConstantPool; source: u16 */
	uint16_t class_name, class_pool; /* in InstanceKlass */
	uint16_t symbol_references, symbol_length, symbol_body; /* in Symbol */
};

/* Offsets of the members by which an nmethod leads to its scopes. */
struct hotspot_nmethod_offsets {
	uint16_t block_bytes, block_used; /* in HeapBlock, which is before the blob */
	uint16_t size, name; /* in CodeBlob */
	uint16_t method, compile_id, state;
	uint16_t pcs, scopes, metadata; /* ints, offsets from the blob or the immutable data */
	uint16_t scopes_pointer; /* up to JDK 22 */
	uint16_t pcs_end; /* up to JDK 22: offset of what follows the addresses */
	uint16_t immutable, immutable_size;
	uint16_t mutable_data, mutable_size, relocation_size; /* since JDK 25 */
	uint16_t pc_bytes, pc_offset, pc_scope; /* PcDesc: its size, and its members */
};

/* A Method that was read; texts follow each other in one allocation. */
struct hotspot_named_method {
	uint64_t address;
	uint32_t id; /* hotspot_method_id() */
	uint32_t code_size; /* bytes of its bytecodes */
	char *class_name, *name, *signature, *file;
	struct hotspot_line *lines;
	uint32_t line_count;
};

/* A compiled method that was read. */
struct hotspot_code {
	uint64_t address;
	uint32_t id; /* the compile id */
	uint64_t method; /* its Method */
	struct hotspot_pc *pcs;
	uint32_t pc_count;
	uint8_t *scopes;
	uint32_t scopes_size;
	uint64_t *metadata;
	uint32_t metadata_count;
};

/* Reads memory of one process; the results depend on what was found so far. */
struct hotspot_reader {
	struct hotspot_method_offsets method;
	struct hotspot_nmethod_offsets nmethod;
	enum hotspot_integers integers; /* form of the integers, once known */
	const struct hotspot_memory *memory;
};

/*
 * Read bytes that may not wrap around the end of the address space. Return 0, or -EFAULT for every
 * error.
 */
int hotspot_reader_read(const struct hotspot_reader *r, void *to, size_t bytes, uint64_t address);

/*
 * hotspot_method.c: read a Method. id: the expected one, which is compared before and after; NULL:
 * any, and the caller checks afterwards that the Method was not freed. Return 0; -ESTALE: it has
 * another id; -EFAULT; -EBADMSG; -ENOMEM. On failure *out is untouched.
 */
int hotspot_method_read(struct hotspot_named_method *out, struct hotspot_reader *r,
			uint64_t address, const uint32_t *id);
void hotspot_method_free(struct hotspot_named_method *m);
size_t hotspot_method_bytes(const struct hotspot_named_method *m);
/*
 * Read the name of the class that the Symbol at an address names, as Java writes it ("int[]").
 * number: as in struct hotspot_lookup; if it is 0, only a Symbol that is never freed has a name.
 * Errors as for hotspot_method_read().
 */
int hotspot_class_read(char out[HOTSPOT_CLASS_MAX], const struct hotspot_reader *r,
		       uint64_t address, uint64_t number);
int hotspot_method_fill(struct hotspot_method_offsets *out, const struct hotspot_tables *t,
			struct error *err);

/*
 * hotspot_nmethod.c: read what describes the code of an nmethod with this compile id. Errors as for
 * hotspot_method_read(). An nmethod whose scopes are missing, too large or invalid has none.
 */
int hotspot_code_read(struct hotspot_code *out, struct hotspot_reader *r, uint64_t address,
		      uint32_t id);
void hotspot_code_free(struct hotspot_code *c);
size_t hotspot_code_bytes(const struct hotspot_code *c);
int hotspot_nmethod_fill(struct hotspot_nmethod_offsets *out, const struct hotspot_tables *t,
			 struct error *err);
/* Return 0 if the nmethod still is the one of that compile id and Method; -ESTALE or -EFAULT. */
int hotspot_code_check(const struct hotspot_reader *r, const struct hotspot_code *c);
/*
 * Decode the scopes at an offset in the code, innermost first. exact: an address is described.
 * Return their number, or 0 if none are known.
 */
unsigned int hotspot_code_scopes(struct hotspot_scope out[HOTSPOT_FRAMES_MAX],
				 const struct hotspot_code *c, enum hotspot_integers integers,
				 uint32_t offset, bool *exact);
/* Read the name of a blob that is not an nmethod. Return 0, -ESTALE, -EFAULT or -EBADMSG. */
int hotspot_blob_read(char to[HOTSPOT_NAME_MAX], const struct hotspot_reader *r, uint64_t address);

#endif
