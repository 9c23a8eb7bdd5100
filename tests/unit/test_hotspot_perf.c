// SPDX-License-Identifier: Apache-2.0
/* The counters of a made-up JVM: complete, being made, and hostile. */
#include <errno.h>

#include "hotspot_image.h"
#include "suite.h"
#include "symbolizers/hotspot_perf.h"

#define MEMORY_BYTES 8192
#define ENTRY_BYTES 20 /* of a PerfDataEntry */
#define PROLOGUE_BYTES 32
#define MAGIC 0xc0c0feca
#define COMPLETE 0x01000201 /* little-endian, version 2.0, ready to be read */

static struct hotspot_image *image;
static uint64_t start, at; /* addresses of the memory, and of the next entry */
static uint64_t start_at, end_at; /* of the words that lead to it */
static unsigned int entries;

static void put_entry(const char *name, char type, uint32_t elements, const void *data, size_t size)
{
	size_t name_bytes = (strlen(name) + 8) & ~(size_t)7, bytes;

	bytes = (ENTRY_BYTES + name_bytes + 7 + size + 7) & ~(size_t)7;
	image_set(image, at, bytes, 4);
	image_set(image, at + 4, ENTRY_BYTES, 4);
	image_set(image, at + 8, elements, 4);
	image_set(image, at + 12, (uint8_t)type, 1);
	image_set(image, at + 16, bytes - ((size + 7) & ~(size_t)7), 4);
	strcpy((char *)image->bytes + (at + ENTRY_BYTES - IMAGE_BASE), name);
	memcpy(image->bytes + (at + bytes - ((size + 7) & ~(size_t)7) - IMAGE_BASE), data, size);
	at += bytes;
	image_set(image, start + 28, ++entries, 4);
}

static void put_number(const char *name, uint64_t value)
{
	put_entry(name, 'J', 0, &value, 8);
}

static void put_text(const char *name, const char *text)
{
	put_entry(name, 'B', (uint32_t)strlen(text) + 1, text, strlen(text) + 1);
}

static void make_image(void)
{
	struct hotspot_entry tables[] = {
		{HOTSPOT_ENTRY_TYPE, "PerfDataPrologue", "", NULL, PROLOGUE_BYTES},
		{HOTSPOT_ENTRY_FIELD, "PerfDataPrologue", "magic", "jint", 0},
		{HOTSPOT_ENTRY_FIELD, "PerfDataPrologue", "byte_order", "jbyte", 4},
		{HOTSPOT_ENTRY_FIELD, "PerfDataPrologue", "major_version", "jbyte", 5},
		{HOTSPOT_ENTRY_FIELD, "PerfDataPrologue", "accessible", "jbyte", 7},
		{HOTSPOT_ENTRY_FIELD, "PerfDataPrologue", "entry_offset", "jint", 24},
		{HOTSPOT_ENTRY_FIELD, "PerfDataPrologue", "num_entries", "jint", 28},
		{HOTSPOT_ENTRY_TYPE, "PerfDataEntry", "", NULL, ENTRY_BYTES},
		{HOTSPOT_ENTRY_FIELD, "PerfDataEntry", "entry_length", "jint", 0},
		{HOTSPOT_ENTRY_FIELD, "PerfDataEntry", "name_offset", "jint", 4},
		{HOTSPOT_ENTRY_FIELD, "PerfDataEntry", "vector_length", "jint", 8},
		{HOTSPOT_ENTRY_FIELD, "PerfDataEntry", "data_type", "jbyte", 12},
		{HOTSPOT_ENTRY_FIELD, "PerfDataEntry", "data_offset", "jint", 16},
		{HOTSPOT_ENTRY_STATIC, "PerfMemory", "_start", "char*", 0},
		{HOTSPOT_ENTRY_STATIC, "PerfMemory", "_end", "char*", 0},
		{HOTSPOT_ENTRY_INT, "", "one", NULL, 1},
		{HOTSPOT_ENTRY_LONG, "", "two", NULL, 2},
	};

	image = calloc(1, sizeof(*image));
	ck_assert_ptr_nonnull(image);
	start_at = tables[13].value = image_room(image, 8);
	end_at = tables[14].value = image_room(image, 8);
	start = image_room(image, MEMORY_BYTES);
	at = start + PROLOGUE_BYTES;
	entries = 0;
	image_tables(image, tables, sizeof(tables) / sizeof(*tables));
	image_set(image, start_at, start, 8);
	image_set(image, end_at, start + MEMORY_BYTES, 8);
	image_set(image, start, MAGIC, 4);
	image_set(image, start + 4, COMPLETE, 4);
	image_set(image, start + 24, PROLOGUE_BYTES, 4);
	put_number("sun.os.hrt.frequency", 1000000000);
	put_number("sun.rt.safepoints", 12);
	put_text("sun.gc.collector.0.name", "Serial young collection pauses");
	put_number("sun.gc.collector.0.invocations", 7);
	put_number("sun.gc.collector.0.time", 700);
	put_text("sun.gc.generation.0.name", "new");
	put_number("sun.gc.generation.0.space.0.used", 100);
	put_number("sun.gc.generation.0.space.1.used", 23);
	put_number("sun.gc.generation.0.space.0.capacity", 1000);
	put_text("sun.gc.cause", "No GC");
	put_text("sun.gc.lastCause", "System.gc()");
}

static int read_perf(struct hotspot_perf *out, struct error *err)
{
	const struct hotspot_memory memory = {.read = image_read, .context = image};
	struct hotspot_tables *t = NULL;
	int ret;

	ck_assert_int_eq(hotspot_tables_read(&t, &image->objects, image_read, image, NULL), 0);
	ret = hotspot_perf_read(out, t, &memory, err);
	hotspot_tables_free(t);
	return ret;
}

/* Check that the counters are refused with a reason, and that the result is untouched. */
static void check_refused(int expected, const char *reason)
{
	struct hotspot_perf p = {.present = 4711};
	struct error err = {.text = ""};

	ck_assert_int_eq(read_perf(&p, &err), expected);
	ck_assert_uint_eq(p.present, 4711);
	ck_assert_msg(strstr(err.text, reason), "%s", err.text);
	free(image);
}

START_TEST(counters_are_read_by_their_names)
{
	struct hotspot_perf p;

	make_image();
	ck_assert_int_eq(read_perf(&p, NULL), 0);
	ck_assert(hotspot_perf_check(&p));
	ck_assert_uint_eq(p.values[HOTSPOT_COUNTER_SAFEPOINTS], 12);
	ck_assert_uint_eq(p.present,
			  1u << HOTSPOT_COUNTER_FREQUENCY | 1u << HOTSPOT_COUNTER_SAFEPOINTS);
	ck_assert_str_eq(p.collectors[0].name, "Serial young collection pauses");
	ck_assert_uint_eq(p.collectors[0].invocations, 7);
	ck_assert_uint_eq(p.collectors[0].time, 700);
	ck_assert_str_eq(p.collectors[1].name, "");
	ck_assert_str_eq(p.generations[0].name, "new");
	ck_assert_uint_eq(p.generations[0].used, 123);
	ck_assert_uint_eq(p.generations[0].capacity, 1000);
	ck_assert_str_eq(p.cause, "No GC");
	free(image);
}
END_TEST

START_TEST(no_memory_has_a_reason)
{
	make_image();
	image_set(image, start_at, 0, 8);
	check_refused(-ENOENT, "-XX:-UsePerfData");
	make_image();
	image_set(image, start + 7, 0, 1);
	check_refused(-EAGAIN, "not made its counters yet");
}
END_TEST

START_TEST(other_formats_are_refused)
{
	make_image();
	image_set(image, start, 0xcafec0c0, 4);
	check_refused(-EINVAL, "unknown format");
	make_image();
	image_set(image, start + 4, 0, 1); /* big-endian */
	check_refused(-EINVAL, "unknown format");
	make_image();
	image_set(image, start + 5, 3, 1);
	check_refused(-EINVAL, "unknown format");
}
END_TEST

START_TEST(sizes_that_lie)
{
	make_image();
	image_set(image, end_at, start - 8, 8);
	check_refused(-EINVAL, "invalid size");
	make_image();
	image_set(image, end_at, start + (64ull << 20), 8);
	check_refused(-EINVAL, "invalid size");
	make_image();
	image_set(image, end_at, start + 8, 8);
	check_refused(-EINVAL, "invalid size");
	make_image();
	image_set(image, start_at, 4096, 8);
	image_set(image, end_at, 8192, 8);
	check_refused(-EFAULT, "cannot read PerfMemory");
}
END_TEST

START_TEST(entries_that_lie)
{
	struct hotspot_perf p;

	make_image();
	image_set(image, start + 24, MEMORY_BYTES, 4); /* the first entry is behind the end */
	check_refused(-EINVAL, "invalid entry");
	make_image();
	image_set(image, start + PROLOGUE_BYTES, 4, 4); /* an entry smaller than its members */
	check_refused(-EINVAL, "invalid entry");
	make_image();
	image_set(image, start + PROLOGUE_BYTES, UINT32_MAX, 4);
	check_refused(-EINVAL, "invalid entry");
	make_image();
	image_set(image, start + PROLOGUE_BYTES + 4, UINT32_MAX, 4); /* its name is elsewhere */
	image_set(image, start + PROLOGUE_BYTES + 16, UINT32_MAX - 3, 4);
	ck_assert_int_eq(read_perf(&p, NULL), 0);
	ck_assert_uint_eq(p.present, 1u << HOTSPOT_COUNTER_SAFEPOINTS);
	free(image);
}
END_TEST

/* The number of entries grows before the JVM has written the new one. */
START_TEST(an_entry_that_is_being_made)
{
	struct hotspot_perf p;

	make_image();
	image_set(image, start + 28, entries + 1000, 4);
	ck_assert_int_eq(read_perf(&p, NULL), 0);
	free(image);
}
END_TEST

START_TEST(texts_are_cut_and_printable)
{
	struct hotspot_perf p;
	char text[200];

	make_image();
	memset(text, 'x', sizeof(text));
	text[0] = '\033';
	text[sizeof(text) - 1] = '\0';
	put_text("sun.gc.collector.1.name", text);
	put_number("sun.gc.collector.9.invocations", 1);
	put_number("sun.gc.generation.0.name", 1); /* no text */
	ck_assert_int_eq(read_perf(&p, NULL), 0);
	ck_assert(hotspot_perf_check(&p));
	ck_assert_uint_eq(strlen(p.collectors[1].name), HOTSPOT_PERF_TEXT_MAX - 1);
	ck_assert_int_eq(p.collectors[1].name[0], '?');
	ck_assert_str_eq(p.generations[0].name, "");
	free(image);
}
END_TEST

START_TEST(what_a_worker_must_not_send)
{
	static struct hotspot_perf p;

	ck_assert(hotspot_perf_check(&p));
	p.cause[0] = '\n';
	ck_assert(!hotspot_perf_check(&p));
	memset(p.cause, 'x', sizeof(p.cause));
	ck_assert(!hotspot_perf_check(&p));
	memset(p.cause, 0, sizeof(p.cause));
	p.present = 1ull << HOTSPOT_COUNTER_COUNT;
	ck_assert(!hotspot_perf_check(&p));
}
END_TEST

/* A collection that begins while the counters are being copied has counted already, or not. */
START_TEST(the_cause_is_read_last)
{
	static const char now[8] = "Stop", before[8] = "No GC";
	struct hotspot_perf p;
	const unsigned char *cause;

	make_image();
	ck_assert_int_eq(read_perf(&p, NULL), 0);
	ck_assert_str_eq(p.cause, before);
	cause = memmem(image->bytes, image->used, before, sizeof(before));
	ck_assert_ptr_nonnull(cause);
	image->change_at = 2 * image->reads;
	image->change_address = IMAGE_BASE + (uint64_t)(cause - image->bytes);
	memcpy(&image->change_to, now, sizeof(now));
	ck_assert_int_eq(read_perf(&p, NULL), 0);
	ck_assert_str_eq(p.cause, now);
	free(image);
}
END_TEST

SUITE("hotspot_perf", counters_are_read_by_their_names, no_memory_has_a_reason,
      other_formats_are_refused, sizes_that_lie, entries_that_lie, an_entry_that_is_being_made,
      texts_are_cut_and_printable, the_cause_is_read_last, what_a_worker_must_not_send)
