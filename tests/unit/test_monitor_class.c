// SPDX-License-Identifier: Apache-2.0
/* bpf/monitor_class.h: from a thread to the class of a monitor's object, in a made-up memory. */
#include <string.h>

#include "hotspot_image.h"
#include "suite.h"

static struct hotspot_image image;

static bool user_read(void *to, uint32_t bytes, uint64_t address)
{
	return !image_read(&image, to, bytes, address);
}

#include "bpf/monitor_class.h"

#define PENDING 40
#define WAITING 56
#define OBJECT 8
#define NAME 24
#define NUMBER 0xabcdu
#define SHIFT 3

static struct {
	struct wire_java_thread thread;
	uint64_t monitor, slot, object, class, symbol;
} made;

/* Make a thread that waits for the monitor of an object. */
static void make_thread(enum hotspot_head head)
{
	memset(&image, 0, sizeof(image));
	memset(&made, 0, sizeof(made));
	(void)image_room(&image, 64);
	made.thread.thread = image_room(&image, 128);
	made.monitor = image_room(&image, 64);
	made.slot = image_room(&image, 8);
	made.object = image_room(&image, 24);
	made.class = image_room(&image, 64);
	made.symbol = image_room(&image, 64);
	made.thread.monitor = (struct hotspot_monitor_layout){
		.pending = PENDING,
		.waiting = WAITING,
		.object = OBJECT,
		.class_name = NAME,
		.head = (uint8_t)head,
	};
	image_set(&image, made.thread.thread + PENDING, made.monitor, 8);
	image_set(&image, made.monitor + OBJECT, made.slot, 8);
	image_set(&image, made.slot, made.object, 8);
	image_set(&image, made.object, made.monitor | 2, 8);
	image_set(&image, made.object + 8, made.class, 8);
	image_set(&image, made.class + NAME, made.symbol, 8);
	image_set(&image, made.symbol, NUMBER << 16 | 7, 4);
}

/* Have 4 bytes in the object's head. The 4 bytes behind them are of the object. */
static void make_narrow(void)
{
	make_thread(HOTSPOT_HEAD_NARROW);
	made.thread.monitor.class_base = IMAGE_BASE - 0x1000;
	made.thread.monitor.class_shift = SHIFT;
	image_set(&image, made.object + 8,
		  (made.class - made.thread.monitor.class_base) >> SHIFT | 0x1234ULL << 32, 8);
}

static void check_lock(enum wire_lock lock, uint64_t class)
{
	__u64 found = 0;

	ck_assert_int_eq(monitor_lock(&made.thread, &found), lock);
	ck_assert_uint_eq(found, class);
}

static void check_known(void)
{
	check_lock(WIRE_LOCK_MONITOR, made.symbol | (uint64_t)NUMBER << WIRE_CLASS_BITS);
}

static void check_unknown(void)
{
	check_lock(WIRE_LOCK_MONITOR, 0);
}

START_TEST(both_forms_of_a_head)
{
	make_thread(HOTSPOT_HEAD_WIDE);
	check_known();
	make_narrow();
	check_known();
	made.thread.monitor.head = 0;
	check_unknown();
}
END_TEST

START_TEST(a_thread_may_enter_again_after_a_wait)
{
	make_narrow();
	image_set(&image, made.thread.thread + PENDING, 0, 8);
	image_set(&image, made.thread.thread + WAITING, made.monitor, 8);
	check_known();
}
END_TEST

START_TEST(a_thread_that_has_entered_waits_for_the_jvm)
{
	make_narrow();
	image_set(&image, made.thread.thread + PENDING, 0, 8);
	check_lock(WIRE_LOCK_SAFEPOINT, 0);
	made.thread.monitor.head = 0;
	check_lock(WIRE_LOCK_SAFEPOINT, 0);
	/* where that is, is not known */
	made.thread.monitor.pending = made.thread.monitor.waiting = 0;
	check_unknown();
	made.thread.monitor.pending = PENDING;
	made.thread.thread = 8;
	check_unknown();
}
END_TEST

START_TEST(an_object_that_is_not_there_has_no_class)
{
	static const uint64_t marks[] = {0, 1, 3};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		make_narrow();
		/* unlocked, of another monitor, moved by a collector */
		image_set(&image, made.object, marks[i] == 3 ? made.object | 3 : marks[i], 8);
		check_unknown();
	}
	make_narrow();
	image_set(&image, made.object, (made.monitor + 8) | 2, 8);
	check_unknown();
	make_narrow();
	image_set(&image, made.slot, 0, 8);
	check_unknown();
	image_set(&image, made.slot, made.object + 8, 8);
	check_unknown();
}
END_TEST

START_TEST(colored_references)
{
	for (unsigned int bit = 12; bit < 16; bit++) {
		make_thread(HOTSPOT_HEAD_WIDE);
		made.thread.monitor.colored = 1;
		/* bits below belong to the color; the address begins above the lowest of the four
		 */
		image_set(&image, made.slot, made.object << (bit + 1) | 1ULL << bit | 0x310, 8);
		check_known();
		made.thread.monitor.colored = 0;
		check_unknown();
	}
	make_thread(HOTSPOT_HEAD_WIDE);
	made.thread.monitor.colored = 1;
	image_set(&image, made.slot, made.object << 16 | 0x310, 8);
	check_unknown();
}
END_TEST

START_TEST(a_symbol_that_cannot_be_read_has_no_number)
{
	make_narrow();
	made.thread.monitor.symbol_references = 0xfff0;
	image_set(&image, made.class + NAME, IMAGE_BASE + IMAGE_SIZE - 8, 8);
	check_lock(WIRE_LOCK_MONITOR, IMAGE_BASE + IMAGE_SIZE - 8);
	/* no address of a process */
	image_set(&image, made.class + NAME, 1ULL << 48, 8);
	check_unknown();
	image_set(&image, made.class + NAME, 0, 8);
	check_unknown();
}
END_TEST

/* Each word of the way, replaced by each of some values: all reads are bounded. */
START_TEST(hostile_words)
{
	static const uint64_t values[] = {
		0,	   1,	       7,	   IMAGE_BASE - 8,
		INT64_MAX, UINT64_MAX, 1ULL << 63, IMAGE_BASE + IMAGE_SIZE - 4};

	for (uint64_t at = IMAGE_BASE; at < IMAGE_BASE + 512; at += 8) {
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			__u64 class = 0;

			make_narrow();
			image_set(&image, at, values[i], 8);
			(void)monitor_lock(&made.thread, &class);
			ck_assert_uint_le(image.reads, 7);
		}
	}
}
END_TEST

SUITE("monitor_class", both_forms_of_a_head, a_thread_may_enter_again_after_a_wait,
      a_thread_that_has_entered_waits_for_the_jvm, an_object_that_is_not_there_has_no_class,
      colored_references, a_symbol_that_cannot_be_read_has_no_number, hostile_words)
