// SPDX-License-Identifier: Apache-2.0
/* HotSpot's tables of processes that have them, have not filled them yet, or lie. */
#include "hotspot_image.h"
#include "suite.h"

static const struct hotspot_entry entries[] = {
	{HOTSPOT_ENTRY_FIELD, "Method", "_constMethod", "ConstMethod*", 8},
	{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_code_size", "u2", 34},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_size", "int", 24},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_frame", "Strange", 24},
	{HOTSPOT_ENTRY_FIELD, "JavaThread", "_text", "address", 0},
	{HOTSPOT_ENTRY_STATIC, "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 0x7f0000001000},
	{HOTSPOT_ENTRY_TYPE, "Method", "", "Metadata", 104},
	{HOTSPOT_ENTRY_TYPE, "Metadata", "", NULL, 8},
	{HOTSPOT_ENTRY_TYPE, "u2", "", NULL, 2},
	{HOTSPOT_ENTRY_TYPE, "int", "", NULL, 4},
	{HOTSPOT_ENTRY_TYPE, "Strange", "", NULL, 3},
	{HOTSPOT_ENTRY_INT, "", "frame::entry_frame_call_wrapper_offset", NULL, -6u},
	{HOTSPOT_ENTRY_LONG, "", "markWord::age_mask", NULL, 0x1234567890ull},
};

static struct hotspot_image *image;

static void make_image(void)
{
	image = calloc(1, sizeof(*image));
	ck_assert_ptr_nonnull(image);
	image_tables(image, entries, sizeof(entries) / sizeof(*entries));
}

static void free_image(void)
{
	free(image);
}

static int read_tables(struct hotspot_tables **out, struct error *err)
{
	image->reads = 0;
	image->bytes_read = 0;
	return hotspot_tables_read(out, &image->objects, image_read, image, err);
}

/* Check that reading fails with bounded work, and leaves the result unchanged. */
static void check_refused(int expected, const char *text)
{
	struct hotspot_tables *untouched = (struct hotspot_tables *)image, *t = untouched;
	struct error err = {.text = ""};

	ck_assert_int_eq(read_tables(&t, &err), expected);
	ck_assert_ptr_eq(t, untouched);
	ck_assert_msg(strstr(err.text, text), "%s", err.text);
	ck_assert_uint_le(image->reads, 2 * 16 * HOTSPOT_BLOCKS_MAX);
	ck_assert_uint_le(image->bytes_read, 2ull * HOTSPOT_BLOCK_BYTES * HOTSPOT_BLOCKS_MAX);
}

START_TEST(entries_are_found_by_their_names)
{
	struct hotspot_tables *t = NULL;
	uint64_t value = 4711;

	make_image();
	ck_assert_int_eq(read_tables(&t, NULL), 0);
	ck_assert_uint_eq(hotspot_tables_count(t), sizeof(entries) / sizeof(*entries));
	ck_assert_int_eq(hotspot_field(t, "ConstMethod", "_code_size", &value), 0);
	ck_assert_uint_eq(value, 34);
	ck_assert_int_eq(hotspot_field(t, "CodeCache", "_heaps", &value), 0);
	ck_assert_uint_eq(value, 0x7f0000001000);
	ck_assert_int_eq(hotspot_type_size(t, "Method", &value), 0);
	ck_assert_uint_eq(value, 104);
	ck_assert_str_eq(hotspot_superclass(t, "Method"), "Metadata");
	ck_assert_str_eq(hotspot_superclass(t, "Metadata"), "");
	hotspot_tables_free(t);
	free_image();
}
END_TEST

START_TEST(what_is_missing_is_enoent)
{
	struct hotspot_tables *t = NULL;
	uint64_t value = 4711;

	make_image();
	ck_assert_int_eq(read_tables(&t, NULL), 0);
	ck_assert_int_eq(hotspot_field(t, "ConstMethod", "_constMethod", &value), -ENOENT);
	ck_assert_int_eq(hotspot_field(t, "Zzz", "_code_size", &value), -ENOENT);
	ck_assert_int_eq(hotspot_type_size(t, "ConstMethod", &value), -ENOENT);
	ck_assert_uint_eq(value, 4711);
	ck_assert_str_eq(hotspot_superclass(t, "Zzz"), "");
	hotspot_tables_free(t);
	free_image();
}
END_TEST

START_TEST(fields_have_the_bytes_of_their_types)
{
	struct hotspot_tables *t = NULL;

	make_image();
	ck_assert_int_eq(read_tables(&t, NULL), 0);
	ck_assert_uint_eq(hotspot_field_bytes(t, "Method", "_constMethod"), 8);
	ck_assert_uint_eq(hotspot_field_bytes(t, "ConstMethod", "_code_size"), 2);
	ck_assert_uint_eq(hotspot_field_bytes(t, "CodeBlob", "_size"), 4);
	ck_assert_uint_eq(hotspot_field_bytes(t, "JavaThread", "_text"), 8);
	ck_assert_uint_eq(hotspot_field_bytes(t, "CodeBlob", "_frame"), 0);
	ck_assert_uint_eq(hotspot_field_bytes(t, "CodeBlob", "_zzz"), 0);
	hotspot_tables_free(t);
	free_image();
}
END_TEST

START_TEST(tables_are_read_in_a_dozen_blocks)
{
	struct hotspot_tables *t = NULL;

	make_image();
	ck_assert_int_eq(read_tables(&t, NULL), 0);
	/* the block at the beginning of the memory cannot be read whole, and is read by pages */
	ck_assert_uint_le(image->reads, 1 + 16);
	hotspot_tables_free(t);
	free_image();
}
END_TEST

START_TEST(before_constructors_ran_it_is_eagain)
{
	static const int last[] = {HOTSPOT_STRUCT_STRIDE, HOTSPOT_TYPE_STRIDE, HOTSPOT_INT_STRIDE,
				   HOTSPOT_LONG_STRIDE, HOTSPOT_STRUCTS};

	for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++) {
		make_image();
		image_change(image, last[i], 0);
		check_refused(-EAGAIN, "is not filled yet");
		free_image();
	}
}
END_TEST

START_TEST(a_missing_symbol_has_its_name_in_the_message)
{
	make_image();
	image->objects.address[HOTSPOT_TYPE_SIZE] = 0;
	check_refused(-ENOENT, "gHotSpotVMTypeEntrySizeOffset");
	free_image();
}
END_TEST

START_TEST(objects_that_cannot_be_read_are_the_readers_error)
{
	make_image();
	image->objects.address[HOTSPOT_LONGS] = 4096;
	check_refused(-EFAULT, "gHotSpotVMLongConstants");
	free_image();
}
END_TEST

START_TEST(endless_tables_end)
{
	static const int tables[] = {HOTSPOT_STRUCTS, HOTSPOT_TYPES, HOTSPOT_INTS, HOTSPOT_LONGS};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		make_image();
		image->endless = true;
		/* every word of this memory points to a short text */
		for (size_t at = image->used; at < IMAGE_SIZE; at += 8)
			image_set(image, IMAGE_BASE + at, IMAGE_BASE, 8);
		image_change(image, tables[i], IMAGE_BASE + image->used);
		check_refused(-EINVAL, "it has no end");
		free_image();
	}
}
END_TEST

START_TEST(names_spread_over_the_address_space_end)
{
	uint64_t at;

	make_image();
	image->endless = true;
	at = image_room(image, 4096 * 16);
	for (unsigned int i = 0; i < 4096; i++)
		image_set(image, at + i * 16ull, IMAGE_BASE + i * (uint64_t)IMAGE_SIZE, 8);
	image_change(image, HOTSPOT_INTS, at);
	check_refused(-EINVAL, "a name cannot be read");
	free_image();
}
END_TEST

START_TEST(a_text_without_end_is_refused)
{
	uint64_t at;

	make_image();
	at = image_room(image, 4096);
	memset(image->bytes + (at - IMAGE_BASE), 'x', 4096);
	image_set(image, image_object_value(image, HOTSPOT_TYPES), at, 8);
	check_refused(-EINVAL, "gHotSpotVMTypes is invalid: a name cannot be read");
	free_image();
}
END_TEST

START_TEST(foreign_addresses_are_refused)
{
	static const uint64_t foreign[] = {1,
					   0xffffffff81000000ull,
					   UINT64_MAX,
					   UINT64_MAX - 7,
					   IMAGE_BASE + IMAGE_SIZE,
					   IMAGE_BASE - 1};

	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
		make_image();
		image_set(image, image_object_value(image, HOTSPOT_STRUCTS) + 8, foreign[i], 8);
		check_refused(-EINVAL, "gHotSpotVMStructs is invalid: a name cannot be read");
		image_change(image, HOTSPOT_STRUCTS, foreign[i]);
		check_refused(-EINVAL, "gHotSpotVMStructs is invalid");
		free_image();
	}
}
END_TEST

START_TEST(members_outside_of_an_entry_are_refused)
{
	static const int members[] = {HOTSPOT_STRUCT_TYPE, HOTSPOT_STRUCT_FIELD,
				      HOTSPOT_STRUCT_TEXT, HOTSPOT_STRUCT_OFFSET,
				      HOTSPOT_STRUCT_ADDRESS};
	static const uint64_t offsets[] = {41, 48, UINT64_MAX, UINT64_MAX - 7, 1ull << 63};

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		for (size_t k = 0; k < sizeof(offsets) / sizeof(*offsets); k++) {
			make_image();
			image_change(image, members[i], offsets[k]);
			check_refused(-EINVAL, "members lie outside of its entries");
			free_image();
		}
	}
	make_image();
	image_change(image, HOTSPOT_LONG_STRIDE, 1ull << 40);
	check_refused(-EINVAL, "members lie outside of its entries");
	image_change(image, HOTSPOT_LONG_STRIDE, 4);
	check_refused(-EINVAL, "members lie outside of its entries");
	free_image();
}
END_TEST

START_TEST(an_empty_table_is_refused)
{
	make_image();
	image_set(image, image_object_value(image, HOTSPOT_LONGS), 0, 8);
	check_refused(-EINVAL, "gHotSpotVMLongConstants is invalid: it is empty");
	free_image();
}
END_TEST

SUITE("hotspot_tables", entries_are_found_by_their_names, what_is_missing_is_enoent,
      fields_have_the_bytes_of_their_types, tables_are_read_in_a_dozen_blocks,
      before_constructors_ran_it_is_eagain, a_missing_symbol_has_its_name_in_the_message,
      objects_that_cannot_be_read_are_the_readers_error, endless_tables_end,
      names_spread_over_the_address_space_end, a_text_without_end_is_refused,
      foreign_addresses_are_refused, members_outside_of_an_entry_are_refused,
      an_empty_table_is_refused)
