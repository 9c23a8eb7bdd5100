// SPDX-License-Identifier: Apache-2.0
/* Names of Java frames in a made-up JVM that is complete, changes, or lies. */
#include "hotspot_scene.h"
#include "suite.h"
#include "symbolizers/hotspot_names_private.h"

static struct hotspot_frame frames[HOTSPOT_FRAMES_MAX];

static int find(struct hotspot_scene *s, uint32_t kind, uint64_t address, uint64_t place)
{
	const struct hotspot_memory memory = {image_read, &s->image};
	const struct hotspot_lookup q = {kind, address, place};

	s->image.reads = 0;
	return hotspot_names_find(s->names, &memory, &q, frames);
}

static int find_code_at(struct hotspot_scene *s, uint32_t offset)
{
	return find(s, HOTSPOT_FRAME_COMPILED, s->code, HOTSPOT_COMPILED_PLACE(SCENE_ID, offset));
}

static uint32_t id_of(struct hotspot_scene *s, uint64_t method)
{
	const struct hotspot_memory memory = {image_read, &s->image};
	struct hotspot_reader r = {.memory = &memory};
	struct hotspot_named_method m;
	uint32_t id;

	ck_assert_int_eq(hotspot_method_fill(&r.method, s->tables, NULL), 0);
	ck_assert_int_eq(hotspot_method_read(&m, &r, method, NULL), 0);
	id = m.id;
	hotspot_method_free(&m);
	return id;
}

static void check_frame(const struct hotspot_frame *f, const char *class_name, const char *method,
			int32_t bci, uint32_t line)
{
	ck_assert_str_eq(f->class_name, class_name);
	ck_assert_str_eq(f->method, method);
	ck_assert_str_eq(f->signature, "(I)V");
	ck_assert_str_eq(f->file, "Scene.java");
	ck_assert_int_eq(f->bci, bci);
	ck_assert_uint_eq(f->line, line);
}

START_TEST(inlined_methods_come_first)
{
	struct hotspot_scene *s = scene_make(_i);

	ck_assert_int_eq(find_code_at(s, 16), 2);
	check_frame(&frames[0], "a.Scene$$Lambda", "inner", 3, 100);
	ck_assert(frames[0].inlined && !frames[0].inferred);
	check_frame(&frames[1], "a.Scene", "outer", 12, 340);
	ck_assert(!frames[1].inlined && !frames[1].inferred);
	ck_assert_int_eq(find_code_at(s, 32), 1);
	check_frame(&frames[0], "a.Scene", "outer", 5, 40);
	scene_free(s);
}
END_TEST

START_TEST(an_address_without_description_is_inferred)
{
	struct hotspot_scene *s = scene_make(_i);

	ck_assert_int_eq(find_code_at(s, 17), 1);
	check_frame(&frames[0], "a.Scene", "outer", 5, 40);
	ck_assert(frames[0].inferred);
	/* behind the last: only the method itself is known */
	ck_assert_int_eq(find_code_at(s, 33), 1);
	check_frame(&frames[0], "a.Scene", "outer", -1, 0);
	ck_assert(frames[0].inferred);
	scene_free(s);
}
END_TEST

START_TEST(a_native_method_has_one_frame)
{
	struct hotspot_scene *s = scene_make(_i);

	ck_assert_int_eq(find(s, HOTSPOT_FRAME_COMPILED, s->native,
			      HOTSPOT_COMPILED_PLACE(SCENE_ID + 1, 40)),
			 1);
	check_frame(&frames[0], "a.Scene$$Lambda", "inner", -1, 0);
	ck_assert(!frames[0].inferred && !frames[0].inlined);
	scene_free(s);
}
END_TEST

START_TEST(another_compile_id_is_stale)
{
	struct hotspot_scene *s = scene_make(_i);

	ck_assert_int_eq(
		find(s, HOTSPOT_FRAME_COMPILED, s->code, HOTSPOT_COMPILED_PLACE(SCENE_ID + 1, 16)),
		-ESTALE);
	image_set(&s->image, s->code + 52, 3, 1);
	ck_assert_int_eq(find_code_at(s, 16), -ESTALE);
	image_set(&s->image, s->code + 52, 2, 1);
	image_set(&s->image, s->code - SCENE_BLOCK + 8, 0, 1);
	ck_assert_int_eq(find_code_at(s, 16), -ESTALE);
	image_set(&s->image, s->code - SCENE_BLOCK + 8, 1, 1);
	ck_assert_int_eq(find_code_at(s, 16), 2);
	scene_free(s);
}
END_TEST

/* The compile id, the Method, and the use of the block change before each of the reads. */
START_TEST(code_that_changes_while_it_is_read_has_no_name)
{
	for (int what = 0; what < 3; what++) {
		for (unsigned int at = 1;; at++) {
			struct hotspot_scene *s = scene_make(_i);
			unsigned int reads;
			int count;

			s->image.change_at = at;
			s->image.change_address = what == 0   ? s->code + 48
						  : what == 1 ? s->code + 40
							      : s->code - 8;
			s->image.change_to = what == 1 ? s->inner : 0;
			count = find_code_at(s, 16);
			reads = s->image.reads;
			/* also a name that was read before the change is not kept */
			if (at <= reads)
				ck_assert_int_eq(count, what == 1 && at == 1 ? count : -ESTALE);
			scene_free(s);
			if (at > reads) {
				ck_assert_int_eq(count, 2);
				ck_assert_uint_gt(at, 8);
				break;
			}
		}
	}
}
END_TEST

/* The constructor of an nmethod sets its Method before its compile id. */
START_TEST(code_that_is_just_being_made_has_no_name)
{
	struct hotspot_scene *s = scene_make(_i);

	image_set(&s->image, s->code + 40, scene_method(s, "a/Other", "other", 1), 8);
	ck_assert_int_eq(find_code_at(s, 16), -ESTALE);
	ck_assert_int_eq(find_code_at(s, 1000), -ESTALE);
	image_set(&s->image, s->code + 40, s->outer, 8);
	image_set(&s->image, s->code + 52, 0xff, 1);
	ck_assert_int_eq(find_code_at(s, 16), -ESTALE);
	scene_free(s);
}
END_TEST

START_TEST(interpreted_frames_are_checked_by_their_id)
{
	struct hotspot_scene *s = scene_make(_i);
	uint32_t id = id_of(s, s->outer);

	ck_assert_int_eq(
		find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, HOTSPOT_INTERPRETED_PLACE(id, 11)), 1);
	ck_assert_str_eq(frames[0].method, "outer");
	ck_assert_int_eq(frames[0].bci, 11);
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer,
			      HOTSPOT_INTERPRETED_PLACE(id, HOTSPOT_BCI_UNKNOWN)),
			 1);
	ck_assert_int_eq(frames[0].bci, -1);
	ck_assert_uint_eq(frames[0].line, 0);
	ck_assert_int_eq(
		find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, HOTSPOT_INTERPRETED_PLACE(id ^ 1, 11)),
		-ESTALE);
	ck_assert_int_eq(
		find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, HOTSPOT_INTERPRETED_PLACE(id ^ 2, 11)),
		-ESTALE);
	ck_assert_int_eq(
		find(s, HOTSPOT_FRAME_INTERPRETED, s->inner, HOTSPOT_INTERPRETED_PLACE(id, 11)),
		-ESTALE);
	scene_free(s);
}
END_TEST

START_TEST(an_interpreted_method_that_changes_has_no_name)
{
	for (unsigned int at = 1, reads = 1; at <= reads; at++) {
		struct hotspot_scene *s = scene_make(_i);
		uint32_t id = id_of(s, s->outer);
		uint64_t other;
		int count;

		memcpy(&other, s->image.bytes + (s->inner + 8 - IMAGE_BASE), 8);
		s->image.change_at = at;
		s->image.change_address = s->outer + 8;
		s->image.change_to = other;
		count = find(s, HOTSPOT_FRAME_INTERPRETED, s->outer,
			     HOTSPOT_INTERPRETED_PLACE(id, 11));
		reads = s->image.reads;
		/* the last five reads are of what the Method pointed to before */
		ck_assert_msg(count == -ESTALE || at + 4 >= reads, "read %u: %d", at, count);
		scene_free(s);
	}
}
END_TEST

/* The addresses of a class's parts. */
struct scene_class {
	uint64_t const_method, constants, klass, name; /* name: the Symbol */
};

static uint64_t word_at(const struct hotspot_scene *s, uint64_t address)
{
	uint64_t word;

	memcpy(&word, s->image.bytes + (address - IMAGE_BASE), sizeof(word));
	return word;
}

static struct scene_class class_of(const struct hotspot_scene *s, uint64_t method)
{
	struct scene_class c = {.const_method = word_at(s, method + 8)};

	c.constants = word_at(s, c.const_method + 8);
	c.klass = word_at(s, c.constants + 24);
	c.name = word_at(s, c.klass + 24);
	return c;
}

START_TEST(a_class_of_the_same_shape_is_not_mistaken)
{
	struct hotspot_scene *s = scene_make(_i);
	uint64_t place = HOTSPOT_INTERPRETED_PLACE(id_of(s, s->outer), 11), other;

	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, place), 1);
	ck_assert_str_eq(frames[0].method, "outer");
	image_set(&s->image, class_of(s, s->outer).constants + SCENE_POOL + 8,
		  scene_symbol(&s->image, "other"), 8);
	other = HOTSPOT_INTERPRETED_PLACE(id_of(s, s->outer), 11);
	ck_assert_uint_ne(place, other);
	ck_assert_int_eq(find_code_at(s, 32), 1);
	ck_assert_str_eq(frames[0].method, "other");
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, other), 1);
	ck_assert_str_eq(frames[0].method, "other");
	/* what the address had before */
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, place), 1);
	ck_assert_str_eq(frames[0].method, "outer");
	scene_free(s);
}
END_TEST

START_TEST(a_new_class_in_the_place_of_an_old_one_is_stale)
{
	struct hotspot_scene *s = scene_make(_i);
	struct scene_class c = class_of(s, s->outer);
	uint64_t place = HOTSPOT_INTERPRETED_PLACE(id_of(s, s->outer), 11);

	/* another name, at another address or at the same one */
	image_set(&s->image, c.klass + 24, scene_symbol(&s->image, "b/Scene"), 8);
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, place), -ESTALE);
	image_set(&s->image, c.klass + 24, c.name, 8);
	image_set(&s->image, c.name, 0xabce0001, 4);
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, place), -ESTALE);
	/* only the number of references differs */
	image_set(&s->image, c.name, 0xabcd0002, 4);
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, place), 1);
	scene_free(s);
}
END_TEST

START_TEST(symbols_that_the_kernel_could_not_read_are_not_compared)
{
	struct hotspot_scene *s = scene_make(_i);
	struct scene_class c = class_of(s, s->outer);
	const struct hotspot_method_numbers numbers = {20, 1, 2, 7};
	uint32_t id = hotspot_method_id(c.const_method, c.constants, &numbers, NULL);

	image_set(&s->image, c.name, 0xabce0001, 4);
	ck_assert_int_eq(
		find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, HOTSPOT_INTERPRETED_PLACE(id, 11)), 1);
	ck_assert_str_eq(frames[0].method, "outer");
	ck_assert_int_eq(
		find(s, HOTSPOT_FRAME_INTERPRETED, s->inner, HOTSPOT_INTERPRETED_PLACE(id, 11)),
		-ESTALE);
	scene_free(s);
}
END_TEST

START_TEST(freed_symbols_and_foreign_classes_are_stale)
{
	struct hotspot_scene *s = scene_make(_i);
	uint64_t place = HOTSPOT_INTERPRETED_PLACE(id_of(s, s->outer), 11), constants, symbol;

	memcpy(&constants, s->image.bytes + (s->outer + 8 - IMAGE_BASE), 8);
	memcpy(&constants, s->image.bytes + (constants + 8 - IMAGE_BASE), 8);
	memcpy(&symbol, s->image.bytes + (constants + SCENE_POOL + 8 - IMAGE_BASE), 8);
	image_set(&s->image, symbol, 0xabcd0000, 4);
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, place), -ESTALE);
	image_set(&s->image, symbol, 0xabcd0001, 4);
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_INTERPRETED, s->outer, place), 1);
	scene_free(s);
}
END_TEST

START_TEST(blobs_have_their_own_name)
{
	struct hotspot_scene *s = scene_make(_i);

	ck_assert_int_eq(find(s, HOTSPOT_FRAME_BLOB, s->stub, HOTSPOT_BLOB_PLACE(100, 1)), 1);
	ck_assert_str_eq(frames[0].method, "StubRoutines (1)");
	ck_assert_str_eq(frames[0].class_name, "");
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_BLOB, s->code, 0), -ESTALE);
	ck_assert_int_eq(find(s, HOTSPOT_FRAME_BLOB, s->native, 0), -ESTALE);
	ck_assert_int_eq(find(s, 0, s->stub, 0), -EBADMSG);
	ck_assert_int_eq(find(s, 5, s->stub, 0), -EBADMSG);
	scene_free(s);
}
END_TEST

START_TEST(what_was_read_needs_no_process)
{
	struct hotspot_scene *s = scene_make(_i);
	const uint64_t method = HOTSPOT_INTERPRETED_PLACE(id_of(s, s->outer), 11);
	const struct hotspot_lookup known[] = {
		{HOTSPOT_FRAME_COMPILED, s->code, HOTSPOT_COMPILED_PLACE(SCENE_ID, 16)},
		{HOTSPOT_FRAME_COMPILED, s->code, HOTSPOT_COMPILED_PLACE(SCENE_ID, 32)},
		{HOTSPOT_FRAME_INTERPRETED, s->outer, method},
		{HOTSPOT_FRAME_BLOB, s->stub, 0},
	};

	(void)find_code_at(s, 16);
	(void)find(s, HOTSPOT_FRAME_BLOB, s->stub, 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		ck_assert_int_gt(hotspot_names_find(s->names, NULL, &known[i], frames), 0);
	ck_assert_uint_gt(hotspot_names_bytes(s->names), 0);
	hotspot_names_trim(s->names, 0);
	ck_assert_uint_eq(hotspot_names_bytes(s->names), 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		ck_assert_int_eq(hotspot_names_find(s->names, NULL, &known[i], frames), -EFAULT);
	scene_free(s);
}
END_TEST

/* Whatever the scopes are, the method itself is right, and no method is made up. */
START_TEST(invalid_scopes_leave_the_method_alone)
{
	static const uint8_t values[] = {0, 1, 2, 3, 4, 7, 13, 127, 191, 192, 255};

	for (size_t at = 0; at < 16; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			struct hotspot_scene *s = scene_make(_i);
			int count;

			image_set(&s->image, s->scopes + at, values[i], 1);
			count = find_code_at(s, 16);
			ck_assert_int_ge(count, 1);
			ck_assert_str_eq(frames[count - 1].method, "outer");
			scene_free(s);
		}
	}
}
END_TEST

START_TEST(sizes_of_parts_are_bounded)
{
	static const uint16_t members[] = {60, 64, 68, 72, 88, 96, 100};
	static const uint64_t values[] = {0,	     1, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff,
					  UINT64_MAX};

	for (size_t m = 0; m < sizeof(members) / sizeof(*members); m++) {
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			struct hotspot_scene *s = scene_make(_i);
			int count;

			image_set(&s->image, s->code + members[m], values[i],
				  members[m] == 72 || members[m] == 88 ? 8 : 4);
			count = find_code_at(s, 16);
			/* stale: the metadata lack the method */
			ck_assert(count == -ESTALE || count >= 1);
			if (count > 0)
				ck_assert_str_eq(frames[count - 1].method, "outer");
			ck_assert_uint_le(s->image.reads, 64);
			ck_assert_uint_le(s->image.bytes_read, 64u << 20);
			scene_free(s);
		}
	}
}
END_TEST

START_TEST(foreign_addresses_are_no_names)
{
	static const uint64_t foreign[] = {
		0,	   1, 8, IMAGE_BASE + IMAGE_SIZE - 1, UINT64_MAX, 0xffffffff81000000ull,
		1ull << 63};
	struct hotspot_scene *s = scene_make(_i);

	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
		for (uint32_t kind = 0; kind < 5; kind++)
			ck_assert_int_lt(find(s, kind, foreign[i], 0), 0);
	}
	scene_free(s);
}
END_TEST

START_TEST(a_missing_entry_has_its_name_in_the_message)
{
	struct hotspot_entry entries[128];
	size_t count = scene_entries(entries, _i, IMAGE_BASE);
	struct hotspot_names *untouched = (struct hotspot_names *)entries, *n = untouched;
	struct hotspot_image *image;
	struct hotspot_tables *t;
	struct error err;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(entries[i].name, "_pool_holder") == 0)
			entries[i].name = "_holder";
	}
	image = calloc(1, sizeof(*image));
	image_tables(image, entries, count);
	ck_assert_int_eq(hotspot_tables_read(&t, &image->objects, image_read, image, &err), 0);
	ck_assert_int_eq(hotspot_names_new(&n, t, &err), -ENOENT);
	ck_assert_ptr_eq(n, untouched);
	ck_assert_msg(strstr(err.text, "_pool_holder of ConstantPool"), "%s", err.text);
	hotspot_tables_free(t);
	free(image);
}
END_TEST

static int find_symbol(struct hotspot_scene *s, uint64_t symbol, uint64_t number)
{
	return find(s, HOTSPOT_FRAME_CLASS, symbol, number);
}

static void check_class(struct hotspot_scene *s, const char *symbol, const char *shown)
{
	const uint64_t address = scene_symbol(&s->image, symbol);

	ck_assert_int_eq(find_symbol(s, address, 0xabcd), shown ? 1 : -ESTALE);
	if (!shown)
		return;
	ck_assert_str_eq(frames[0].class_name, shown);
	ck_assert_str_eq(frames[0].method, "");
}

START_TEST(classes_are_shown_as_java_writes_them)
{
	struct hotspot_scene *s = scene_make(_i);

	check_class(s, "java/lang/Object", "java.lang.Object");
	check_class(s, "Top", "Top");
	check_class(s, "a/Scene$$Lambda$3+0x00007f0000c00800", "a.Scene$$Lambda");
	check_class(s, "[Ljava/util/Map$Entry;", "java.util.Map$Entry[]");
	check_class(s, "[[I", "int[][]");
	check_class(s, "[Z", "boolean[]");
	check_class(s, "", NULL);
	check_class(s, "[", NULL);
	check_class(s, "[V", NULL);
	check_class(s, "[II", NULL);
	check_class(s, "[L;", NULL);
	check_class(s, "[Lno/end", NULL);
	check_class(s, "[[Lin/the[middle;", NULL);
	check_class(s, "not.a.descriptor", NULL);
	check_class(s, "of;fields", NULL);
	check_class(s, "bytes\x01\xff", NULL);
	scene_free(s);
}
END_TEST

/* Another Symbol at its address has another number, and a freed one has no references. */
START_TEST(a_symbol_is_checked_by_its_number)
{
	struct hotspot_scene *s = scene_make(_i);
	const uint64_t symbol = scene_symbol(&s->image, "a/Scene"),
		       other = scene_symbol(&s->image, "an/Other"),
		       permanent = scene_symbol(&s->image, "a/Permanent");

	ck_assert_int_eq(find_symbol(s, symbol, 0xabce), -ESTALE);
	ck_assert_int_eq(find_symbol(s, symbol, 0), -ESTALE);
	image_set(&s->image, permanent, 0xabcdffff, 4);
	ck_assert_int_eq(find_symbol(s, permanent, 0), 1);
	ck_assert_str_eq(frames[0].class_name, "a.Permanent");
	image_set(&s->image, symbol, 0xabcd0000, 4);
	ck_assert_int_eq(find_symbol(s, symbol, 0xabcd), -ESTALE);
	image_set(&s->image, symbol, 0xabcd0003, 4);
	ck_assert_int_eq(find_symbol(s, symbol, 0xabcd), 1);
	/* what was read stays known, also by that number only */
	image_set(&s->image, symbol, 0x12340003, 4);
	ck_assert_int_eq(find_symbol(s, symbol, 0xabcd), 1);
	ck_assert_str_eq(frames[0].class_name, "a.Scene");
	ck_assert_int_eq(find_symbol(s, symbol, 0x4321), -ESTALE);
	ck_assert_int_eq(find_symbol(s, other, 0xabcd), 1);
	ck_assert_str_eq(frames[0].class_name, "an.Other");
	ck_assert_int_eq(find_symbol(s, 8, 0xabcd), -EFAULT);
	ck_assert_int_eq(find_symbol(s, UINT64_MAX - 4, 0xabcd), -EFAULT);
	scene_free(s);
}
END_TEST

/* The Symbol becomes another one before each of the reads. */
START_TEST(a_symbol_that_changes_has_no_name)
{
	for (unsigned int at = 1, reads = 1; at <= reads; at++) {
		struct hotspot_scene *s = scene_make(_i);
		const uint64_t symbol = scene_symbol(&s->image, "a/Scene");

		s->image.change_at = at;
		s->image.change_address = symbol;
		s->image.change_to = 0x4142000712340001;
		ck_assert_int_eq(find_symbol(s, symbol, 0xabcd), -ESTALE);
		reads = s->image.reads;
		ck_assert_uint_le(reads, 4);
		scene_free(s);
	}
}
END_TEST

static int read_facts(struct hotspot_scene *s, struct hotspot_facts *f, struct error *err)
{
	const struct hotspot_memory memory = {image_read, &s->image};

	return hotspot_facts_read(f, s->tables, &memory, err);
}

START_TEST(facts_have_the_heaps_in_order)
{
	struct hotspot_scene *s = scene_make(_i);
	struct error err = {.text = ""};
	struct hotspot_facts f;

	ck_assert_msg(read_facts(s, &f, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(f.range_count, 2);
	ck_assert_uint_eq(f.ranges[0].low, 0x7f0000100000);
	ck_assert_uint_eq(f.ranges[1].high, 0x7f0000300000);
	ck_assert_uint_eq(f.ranges[0].shift, 7);
	ck_assert_uint_eq(f.interpreter_high, 0x7f0000130000);
	ck_assert_uint_eq(f.layout.place, _i ? HOTSPOT_PLACE_POINTER : HOTSPOT_PLACE_OFFSET);
	ck_assert_uint_eq(f.layout.frame_complete_bytes, _i ? 4 : 2);
	ck_assert_uint_eq(f.layout.nmethod_deopt, 104);
	ck_assert(hotspot_facts_check(&f));
	f.layout.blob_size = 1000;
	ck_assert(!hotspot_facts_check(&f));
	scene_free(s);
}
END_TEST

START_TEST(the_counter_of_unloaded_classes_is_optional)
{
	const struct {
		uint32_t offset, value; /* in the counters */
	} invalid[] = {
		{24, 1u << 30}, {28, 1}, {32, 0}, {32, 1u << 20}, {36, 64}, {48, 64}, {32, 32},
	};

	for (size_t i = 0; i <= sizeof(invalid) / sizeof(*invalid); i++) {
		struct hotspot_scene *s = scene_make(_i);
		struct hotspot_facts f;

		if (i)
			image_set(&s->image, s->counters + invalid[i - 1].offset,
				  invalid[i - 1].value, 4);
		ck_assert_int_eq(read_facts(s, &f, NULL), 0);
		ck_assert_uint_eq(f.unloads, i ? 0 : s->unloads);
		scene_free(s);
	}
}
END_TEST

START_TEST(a_code_cache_that_is_not_made_yet_is_eagain)
{
	struct hotspot_scene *s = scene_make(_i);
	struct hotspot_facts f = {.range_count = 4711};
	uint64_t heaps, interpreter, word = 0;

	ck_assert_int_eq(hotspot_field(s->tables, "CodeCache", "_heaps", &heaps), 0);
	ck_assert_int_eq(hotspot_field(s->tables, "AbstractInterpreter", "_code", &interpreter), 0);
	image_set(&s->image, s->heaps, 0, 4);
	ck_assert_int_eq(read_facts(s, &f, NULL), -EAGAIN);
	image_set(&s->image, s->heaps, 9, 4);
	ck_assert_int_eq(read_facts(s, &f, NULL), -EINVAL);
	image_set(&s->image, s->heaps, 2, 4);
	memcpy(&word, s->image.bytes + (interpreter - IMAGE_BASE), 8);
	image_set(&s->image, interpreter, 0, 8);
	ck_assert_int_eq(read_facts(s, &f, NULL), -EAGAIN);
	image_set(&s->image, interpreter, word, 8);
	image_set(&s->image, heaps, 0, 8);
	ck_assert_int_eq(read_facts(s, &f, NULL), -EAGAIN);
	image_set(&s->image, heaps, 8, 8);
	ck_assert_int_eq(read_facts(s, &f, NULL), -EFAULT);
	ck_assert_uint_eq(f.range_count, 4711);
	scene_free(s);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("hotspot_names");
	const TTest *const tests[] = {
		inlined_methods_come_first,
		an_address_without_description_is_inferred,
		a_native_method_has_one_frame,
		another_compile_id_is_stale,
		code_that_changes_while_it_is_read_has_no_name,
		code_that_is_just_being_made_has_no_name,
		interpreted_frames_are_checked_by_their_id,
		an_interpreted_method_that_changes_has_no_name,
		a_class_of_the_same_shape_is_not_mistaken,
		a_new_class_in_the_place_of_an_old_one_is_stale,
		symbols_that_the_kernel_could_not_read_are_not_compared,
		freed_symbols_and_foreign_classes_are_stale,
		blobs_have_their_own_name,
		what_was_read_needs_no_process,
		invalid_scopes_leave_the_method_alone,
		sizes_of_parts_are_bounded,
		classes_are_shown_as_java_writes_them,
		a_symbol_is_checked_by_its_number,
		a_symbol_that_changes_has_no_name,
		foreign_addresses_are_no_names,
		a_missing_entry_has_its_name_in_the_message,
		facts_have_the_heaps_in_order,
		the_counter_of_unloaded_classes_is_optional,
		a_code_cache_that_is_not_made_yet_is_eagain,
	};

	/* each with the arrangement of JDK 25 (0) and of JDK 17 (1) */
	tcase_set_timeout(tcase, SUITE_TIMEOUT);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_loop_test(tcase, tests[i], 0, 2);
	return suite_run_case("hotspot_names", tcase);
}
