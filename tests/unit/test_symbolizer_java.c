// SPDX-License-Identifier: Apache-2.0
/* Requests about a JVM whose worker is lost: the next worker has not read the JVM. */
#include <string.h>
#include <sys/mman.h>

#include "client.h"
#include "hotspot_scene.h"
#include "suite.h"

#define JVM 1 /* number of the object */
#define CODE 160 /* offset of the code of scene.code */

/* push %rbp; sub $0x20,%rsp; nop; add $0x20,%rsp; pop %rbp; ret */
static const uint8_t code[] = {0x55, 0x48, 0x83, 0xec, 0x20, 0x90,
			       0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};

static struct hotspot_scene *scene;
static uint64_t class_symbol;
static char names[256]; /* of the last reply, innermost first */
static unsigned int jvm_replies, row_replies;
static int jvm_status;

static void on_java(void *context, uint64_t object, const struct java_places *p)
{
	(void)context;
	ck_assert_uint_eq(object, JVM);
	*names = '\0';
	for (unsigned int i = 0; i < p->count; i++) {
		strcat(names, p->places[i].name);
		strcat(names, ";");
	}
}

static void on_jvm(void *context, uint64_t object, int status, const struct jvm_facts *f,
		   const char *reason)
{
	(void)context, (void)f, (void)reason;
	ck_assert_uint_eq(object, JVM);
	jvm_status = status;
	jvm_replies++;
}

static void on_rows(void *context, uint64_t object, const struct hotspot_code_key *key,
		    const struct hotspot_code_rows *rows)
{
	(void)context;
	ck_assert_uint_eq(object, JVM);
	ck_assert_uint_eq(key->address, scene->code);
	ck_assert_uint_eq(rows->end, sizeof(code));
	row_replies++;
}

static struct symbolizer *begin(void)
{
	const struct symbolizer_events events = {
		.java = on_java, .jvm = on_jvm, .java_code = on_rows};
	struct symbolizer *s;
	int fd = memfd_create("jvm", MFD_CLOEXEC);

	scene = scene_make(false);
	class_symbol = scene_symbol(&scene->image, "[La/Class;");
	image_set(&scene->image, scene->code + 12, 6, 4);
	image_set(&scene->image, scene->code + 24, CODE, 4);
	image_set(&scene->image, scene->code + 32, CODE + sizeof(code), 4);
	memcpy(scene->image.bytes + (scene->code + CODE - IMAGE_BASE), code, sizeof(code));
	ck_assert_int_eq(pwrite(fd, scene->image.bytes, IMAGE_SIZE, (off_t)IMAGE_BASE),
			 (ssize_t)IMAGE_SIZE);
	ck_assert_int_eq(symbolizer_new(&s, &events, NULL), 0);
	ck_assert_int_eq(symbolizer_add_java(s, JVM, fd, &scene->image.objects), 0);
	ck_assert_int_eq(symbolizer_request_jvm(s, JVM), 0);
	for (int i = 0; i < 600 && !jvm_replies; i++)
		poll_once(s, 100);
	ck_assert_int_eq(jvm_status, 0);
	return s;
}

static void end(struct symbolizer *s)
{
	symbolizer_free(s);
	scene_free(scene);
}

static void lookup(struct symbolizer *s, uint64_t place)
{
	uint64_t tag = (uint64_t)WIRE_TAG_JAVA_COMPILED << WIRE_TAG_SHIFT;

	ck_assert_int_eq(symbolizer_lookup_java(s, JVM, tag | scene->code, place), 0);
	finish(s);
}

START_TEST(names_after_the_loss_of_a_worker)
{
	struct symbolizer *s = begin();

	lookup(s, HOTSPOT_COMPILED_PLACE(SCENE_ID, 32));
	ck_assert_str_eq(names, "a.Scene.outer;");
	strike(s);
	lookup(s, HOTSPOT_COMPILED_PLACE(SCENE_ID, 16));
	ck_assert_str_eq(names, "a.Scene$$Lambda.inner;a.Scene.outer;");
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 1);
	ck_assert_uint_eq(jvm_replies, 1);
	end(s);
}
END_TEST

START_TEST(rows_after_the_loss_of_a_worker)
{
	struct symbolizer *s = begin();

	strike(s);
	ck_assert_int_eq(symbolizer_request_java_code(s, JVM, scene->code,
						      HOTSPOT_COMPILED_PLACE(SCENE_ID, 5)),
			 0);
	for (int i = 0; i < 600 && !row_replies; i++)
		poll_once(s, 100);
	ck_assert_uint_eq(row_replies, 1);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 1);
	end(s);
}
END_TEST

START_TEST(names_of_classes)
{
	const uint64_t tag = (uint64_t)WIRE_TAG_JAVA_CLASS << WIRE_TAG_SHIFT;
	struct symbolizer *s = begin();

	ck_assert_int_eq(symbolizer_lookup_java(s, JVM, tag | class_symbol, 0xabcd), 0);
	finish(s);
	ck_assert_str_eq(names, "a.Class[];");
	ck_assert_int_eq(symbolizer_lookup_java(s, JVM, tag | class_symbol, 0xabce), 0);
	finish(s);
	ck_assert_str_eq(names, "");
	end(s);
}
END_TEST

/* Nothing may be kept from one request to the next: it is read again. */
START_TEST(names_without_memory_to_keep_them)
{
	pid_t pids[SYMBOLIZER_WORKERS_MAX];
	struct symbolizer *s = begin();
	unsigned int count = symbolizer_pids(s, pids);

	lookup(s, HOTSPOT_COMPILED_PLACE(SCENE_ID, 32));
	for (unsigned int i = 0; i < count; i++)
		ck_assert(symbolizer_limit_worker(s, pids[i], 1));
	for (int i = 0; i < 3; i++) {
		lookup(s, HOTSPOT_COMPILED_PLACE(SCENE_ID, 16));
		ck_assert_str_eq(names, "a.Scene$$Lambda.inner;a.Scene.outer;");
		ck_assert_int_eq(symbolizer_request_jvm(s, JVM), 0);
		for (int k = 0; k < 600 && jvm_replies < 2 + (unsigned int)i; k++)
			poll_once(s, 100);
		ck_assert_int_eq(jvm_status, 0);
	}
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 0);
	end(s);
}
END_TEST

SUITE("symbolizer_java", names_without_memory_to_keep_them, names_of_classes,
      names_after_the_loss_of_a_worker, rows_after_the_loss_of_a_worker)
