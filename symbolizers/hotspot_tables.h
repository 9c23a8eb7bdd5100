/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's description of itself: the tables gHotSpotVMStructs, gHotSpotVMTypes and two of
 * constants, which libjvm has for debuggers. Constructors of libjvm fill them, so they can only be
 * read from a process, whose memory is hostile. Source: OpenJDK, vmStructs.cpp.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_TABLES_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_TABLES_H

#include <stdbool.h>

#include "base/error.h"
#include "symbolizers/heartbeat.h"
#include "symbolizers/hotspot_memory.h"

/* X(NAME, symbol): the dynamic symbols of libjvm that lead to the tables, each a word. */
#define HOTSPOT_OBJECT_NAMES(X) \
	X(STRUCTS, "gHotSpotVMStructs") \
	X(STRUCT_STRIDE, "gHotSpotVMStructEntryArrayStride") \
	X(STRUCT_TYPE, "gHotSpotVMStructEntryTypeNameOffset") \
	X(STRUCT_FIELD, "gHotSpotVMStructEntryFieldNameOffset") \
	X(STRUCT_TEXT, "gHotSpotVMStructEntryTypeStringOffset") \
	X(STRUCT_STATIC, "gHotSpotVMStructEntryIsStaticOffset") \
	X(STRUCT_OFFSET, "gHotSpotVMStructEntryOffsetOffset") \
	X(STRUCT_ADDRESS, "gHotSpotVMStructEntryAddressOffset") \
	X(TYPES, "gHotSpotVMTypes") \
	X(TYPE_STRIDE, "gHotSpotVMTypeEntryArrayStride") \
	X(TYPE_NAME, "gHotSpotVMTypeEntryTypeNameOffset") \
	X(TYPE_SUPERCLASS, "gHotSpotVMTypeEntrySuperclassNameOffset") \
	X(TYPE_OOP, "gHotSpotVMTypeEntryIsOopTypeOffset") \
	X(TYPE_INTEGER, "gHotSpotVMTypeEntryIsIntegerTypeOffset") \
	X(TYPE_UNSIGNED, "gHotSpotVMTypeEntryIsUnsignedOffset") \
	X(TYPE_SIZE, "gHotSpotVMTypeEntrySizeOffset") \
	X(INTS, "gHotSpotVMIntConstants") \
	X(INT_STRIDE, "gHotSpotVMIntConstantEntryArrayStride") \
	X(INT_NAME, "gHotSpotVMIntConstantEntryNameOffset") \
	X(INT_VALUE, "gHotSpotVMIntConstantEntryValueOffset") \
	X(LONGS, "gHotSpotVMLongConstants") \
	X(LONG_STRIDE, "gHotSpotVMLongConstantEntryArrayStride") \
	X(LONG_NAME, "gHotSpotVMLongConstantEntryNameOffset") \
	X(LONG_VALUE, "gHotSpotVMLongConstantEntryValueOffset")

#define HOTSPOT_OBJECT_ENUM(NAME, symbol) HOTSPOT_##NAME,
enum hotspot_object { HOTSPOT_OBJECT_NAMES(HOTSPOT_OBJECT_ENUM) HOTSPOT_OBJECTS };

/* The addresses of the symbols, in the file or in a process; 0: the file has no such symbol. */
struct hotspot_objects {
	uint64_t address[HOTSPOT_OBJECTS];
};

/* Return the symbol's name of an enum hotspot_object. */
const char *hotspot_object_name(enum hotspot_object object);

/* What the worker found in a file. Zeroed: it is not a libjvm. */
struct hotspot_file {
	struct hotspot_objects objects; /* addresses of the file */
	uint64_t code_delta; /* see hotspot_file_read() */
};

/*
 * hotspot_file.c: find the symbols in the ELF file open as fd; their addresses are the file's. b
 * may be NULL. *code_delta plus a file offset of code is such an address: so code mapped at START
 * from file offset OFFSET has the load bias START - OFFSET - *code_delta. Return 0; -ENOENT: not a
 * libjvm, since a symbol is missing; -EBADMSG: not an ELF file, or an invalid one; or another
 * negative errno. On failure the results are untouched.
 */
int hotspot_file_read(struct hotspot_objects *out, uint64_t *code_delta, int fd,
		      struct heartbeat *b);

/* Maximum numbers of entries, and bytes of a name with its NUL; JDK 17 has 813 structs. */
#define HOTSPOT_ENTRIES_MAX 8192
#define HOTSPOT_TEXT_MAX 256

enum hotspot_entry_kind {
	HOTSPOT_ENTRY_FIELD,
	HOTSPOT_ENTRY_STATIC,
	HOTSPOT_ENTRY_TYPE,
	HOTSPOT_ENTRY_INT,
	HOTSPOT_ENTRY_LONG,
};

struct hotspot_entry {
	enum hotspot_entry_kind kind;
	const char *type; /* "" for constants */
	const char *name; /* of the field or constant; "" for a type */
	const char *text; /* a field's type; a type's superclass; "" for none and for constants */
	/* offset of a field, address of a static one, size of a type, value of a constant */
	uint64_t value;
};

struct hotspot_tables;

/*
 * Read the tables of a process; objects: the addresses there. Return 0; -EAGAIN: the process has
 * not run libjvm's constructors yet; -EINVAL: the tables are invalid, endless, or point to memory
 * that cannot be read; -ENOENT: an object is missing; -ENOMEM; or the error of read for the objects
 * themselves. The caller frees *out; on failure *out is untouched.
 */
int hotspot_tables_read(struct hotspot_tables **out, const struct hotspot_objects *objects,
			hotspot_read_fn *read, void *context, struct error *err);
void hotspot_tables_free(struct hotspot_tables *t);
/* Return the bytes of memory in use. */
size_t hotspot_tables_bytes(const struct hotspot_tables *t);

/* Return the number of entries, or an entry by its number in the order of kind, type and name. */
size_t hotspot_tables_count(const struct hotspot_tables *t);
const struct hotspot_entry *hotspot_tables_entry(const struct hotspot_tables *t, size_t number);

/*
 * Get the offset of a field, or the address of a static one. Each returns 0, or -ENOENT with the
 * result untouched.
 */
int hotspot_field(const struct hotspot_tables *t, const char *type, const char *field,
		  uint64_t *offset);
int hotspot_type_size(const struct hotspot_tables *t, const char *type, uint64_t *size);

/* Return the name of a type's superclass; "" if there is no such entry. */
const char *hotspot_superclass(const struct hotspot_tables *t, const char *type);

/*
 * Return the bytes of a field of one of the integer or pointer types that the tables name: by
 * gHotSpotVMTypes, else by the name of the type. Return 0 if they are not known.
 */
unsigned int hotspot_field_bytes(const struct hotspot_tables *t, const char *type,
				 const char *field);

#endif
