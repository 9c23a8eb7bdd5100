/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a made-up Java process: one range of bytes, in which objects, tables and texts are
 * written one after the other.
 */
#ifndef SKEIN_TESTS_HOTSPOT_IMAGE_H
#define SKEIN_TESTS_HOTSPOT_IMAGE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/hotspot_tables.h"

#define IMAGE_BASE 0x7f1234561000ull /* not at the beginning of a block */
#define IMAGE_SIZE (768u << 10)

struct hotspot_image {
	unsigned char bytes[IMAGE_SIZE];
	size_t used;
	struct hotspot_objects objects;
	unsigned int reads;
	uint64_t bytes_read;
	bool endless; /* the memory repeats in the whole address space */
	/* before the read with that number (from 1), this word changes */
	unsigned int change_at;
	uint64_t change_address, change_to;
};

static inline void image_set(struct hotspot_image *image, uint64_t address, uint64_t value,
			     size_t bytes)
{
	memcpy(image->bytes + (address - IMAGE_BASE), &value, bytes);
}

static inline int image_read(void *context, void *to, size_t bytes, uint64_t address)
{
	struct hotspot_image *image = context;
	uint64_t offset = address - IMAGE_BASE;

	if (++image->reads == image->change_at)
		image_set(image, image->change_address, image->change_to, 8);
	image->bytes_read += bytes;
	for (size_t i = 0; image->endless && i < bytes; i++)
		((unsigned char *)to)[i] = image->bytes[(offset + i) % IMAGE_SIZE];
	if (image->endless)
		return 0;
	if (offset > IMAGE_SIZE || bytes > IMAGE_SIZE - offset)
		return -EFAULT;
	memcpy(to, image->bytes + offset, bytes);
	return 0;
}

/* Reserve zeroed bytes, and return their address. */
static inline uint64_t image_room(struct hotspot_image *image, size_t bytes)
{
	uint64_t address = IMAGE_BASE + image->used;

	if (bytes > IMAGE_SIZE - image->used)
		abort();
	image->used += (bytes + 7) & ~(size_t)7;
	return address;
}

static inline uint64_t image_text(struct hotspot_image *image, const char *text)
{
	uint64_t address;

	if (!text)
		return 0;
	address = image_room(image, strlen(text) + 1);
	memcpy(image->bytes + (address - IMAGE_BASE), text, strlen(text) + 1);
	return address;
}

static inline void image_object(struct hotspot_image *image, int object, uint64_t value)
{
	image->objects.address[object] = image_room(image, 8);
	image_set(image, image->objects.address[object], value, 8);
}

/* Change the word of an object. */
static inline void image_change(struct hotspot_image *image, int object, uint64_t value)
{
	image_set(image, image->objects.address[object], value, 8);
}

static inline uint64_t image_object_value(const struct hotspot_image *image, int object)
{
	uint64_t value;

	memcpy(&value, image->bytes + (image->objects.address[object] - IMAGE_BASE), 8);
	return value;
}

/* The shapes of the tables, which are those of JDK 17 to 25. */
static inline void image_shapes(struct hotspot_image *image)
{
	static const struct {
		int object;
		uint64_t value;
	} words[] = {
		{HOTSPOT_STRUCT_STRIDE, 48},  {HOTSPOT_STRUCT_TYPE, 0},
		{HOTSPOT_STRUCT_FIELD, 8},    {HOTSPOT_STRUCT_TEXT, 16},
		{HOTSPOT_STRUCT_STATIC, 24},  {HOTSPOT_STRUCT_OFFSET, 32},
		{HOTSPOT_STRUCT_ADDRESS, 40}, {HOTSPOT_TYPE_STRIDE, 40},
		{HOTSPOT_TYPE_NAME, 0},	      {HOTSPOT_TYPE_SUPERCLASS, 8},
		{HOTSPOT_TYPE_OOP, 16},	      {HOTSPOT_TYPE_INTEGER, 20},
		{HOTSPOT_TYPE_UNSIGNED, 24},  {HOTSPOT_TYPE_SIZE, 32},
		{HOTSPOT_INT_STRIDE, 16},     {HOTSPOT_INT_NAME, 0},
		{HOTSPOT_INT_VALUE, 8},	      {HOTSPOT_LONG_STRIDE, 16},
		{HOTSPOT_LONG_NAME, 0},	      {HOTSPOT_LONG_VALUE, 8},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		image_object(image, words[i].object, words[i].value);
}

/* Write the tables from entries of any order; kinds without entries have an empty table. */
static inline void image_tables(struct hotspot_image *image, const struct hotspot_entry *entries,
				size_t count)
{
	uint64_t structs = image_room(image, (count + 1) * 48);
	uint64_t types = image_room(image, (count + 1) * 40);
	uint64_t ints = image_room(image, (count + 1) * 16);
	uint64_t longs = image_room(image, (count + 1) * 16);

	image_shapes(image);
	image_object(image, HOTSPOT_STRUCTS, structs);
	image_object(image, HOTSPOT_TYPES, types);
	image_object(image, HOTSPOT_INTS, ints);
	image_object(image, HOTSPOT_LONGS, longs);
	for (size_t i = 0; i < count; i++) {
		const struct hotspot_entry *e = &entries[i];

		switch (e->kind) {
		case HOTSPOT_ENTRY_FIELD:
		case HOTSPOT_ENTRY_STATIC:
			image_set(image, structs, image_text(image, e->type), 8);
			image_set(image, structs + 8, image_text(image, e->name), 8);
			image_set(image, structs + 16, image_text(image, e->text), 8);
			image_set(image, structs + 24, e->kind == HOTSPOT_ENTRY_STATIC, 4);
			image_set(image, structs + (e->kind == HOTSPOT_ENTRY_STATIC ? 40 : 32),
				  e->value, 8);
			structs += 48;
			break;
		case HOTSPOT_ENTRY_TYPE:
			image_set(image, types, image_text(image, e->type), 8);
			image_set(image, types + 8, image_text(image, e->text), 8);
			image_set(image, types + 32, e->value, 8);
			types += 40;
			break;
		case HOTSPOT_ENTRY_INT:
			image_set(image, ints, image_text(image, e->name), 8);
			image_set(image, ints + 8, e->value, 4);
			ints += 16;
			break;
		case HOTSPOT_ENTRY_LONG:
			image_set(image, longs, image_text(image, e->name), 8);
			image_set(image, longs + 8, e->value, 8);
			longs += 16;
			break;
		}
	}
}

#endif
