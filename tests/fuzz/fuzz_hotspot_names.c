// SPDX-License-Identifier: Apache-2.0
/*
 * Names in a made-up JVM whose memory the input changes: first a byte that chooses the arrangement,
 * then records of 8 bytes: an offset in the memory behind the tables, a number of bytes, a value.
 */
#include "../unit/hotspot_scene.h"
#include "fuzz.h"

static struct hotspot_scene *scenes[2];
static struct hotspot_scene changed;
static size_t tables_end[2];
static uint64_t symbols[2]; /* of classes */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	for (int old = 0; old < 2; old++) {
		scenes[old] = scene_make(old);
		tables_end[old] = scenes[old]->heaps - IMAGE_BASE;
		symbols[old] = scene_symbol(&scenes[old]->image, "[[La/Scene;");
	}
	return 0;
}

static void check_texts(const struct hotspot_frame *frames, int count)
{
	for (int i = 0; i < count; i++) {
		if (strlen(frames[i].class_name) >= HOTSPOT_CLASS_MAX ||
		    strlen(frames[i].method) >= HOTSPOT_NAME_MAX ||
		    (!*frames[i].method && !*frames[i].class_name) ||
		    strlen(frames[i].signature) >= HOTSPOT_SIGNATURE_MAX ||
		    strlen(frames[i].file) >= HOTSPOT_FILE_MAX || frames[i].bci < -1 ||
		    frames[i].inlined != (i + 1 < count))
			abort();
	}
}

static void find_all(struct hotspot_scene *s)
{
	const struct hotspot_memory memory = {image_read, &s->image};
	static struct hotspot_frame frames[HOTSPOT_FRAMES_MAX];

	for (int i = 0; i < 24; i++) {
		const uint64_t addresses[] = {s->code, s->native, s->stub, s->outer};
		const struct hotspot_lookup q = {
			.kind = i % 3 + 1u,
			.address = addresses[i / 3 % 4],
			.place = HOTSPOT_COMPILED_PLACE(SCENE_ID + (i / 3 % 4 == 1),
							i < 12 ? 16 : 40),
		};

		check_texts(frames, hotspot_names_find(s->names, &memory, &q, frames));
	}
	for (uint64_t number = 0; number < 2; number++) {
		const struct hotspot_lookup q = {HOTSPOT_FRAME_CLASS, symbols[s->old],
						 number * 0xabcd};

		check_texts(frames, hotspot_names_find(s->names, &memory, &q, frames));
	}
	if (s->image.bytes_read > 1u << 30)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool old = size && data[0] & 1;
	struct hotspot_scene *s = &changed;
	struct hotspot_facts facts;
	struct hotspot_memory memory = {image_read, &s->image};
	const size_t room = scenes[old]->image.used + 256 - tables_end[old];

	memcpy(s, scenes[old], sizeof(*s));
	if (hotspot_names_new(&s->names, s->tables, NULL))
		abort();
	s->image.bytes_read = 0;
	for (size_t i = 1; i + 8 <= size; i += 8) {
		uint32_t offset = data[i] | (uint32_t)data[i + 1] << 8;
		uint64_t value = 0;

		memcpy(&value, data + i + 3, 5);
		/* signs, and addresses near those of the memory */
		if (data[i + 2] & 0x80)
			value = data[i + 2] & 0x40 ? ~value : IMAGE_BASE + value % IMAGE_SIZE;
		image_set(&s->image, IMAGE_BASE + tables_end[old] + offset % room, value,
			  1u << (data[i + 2] & 3));
	}
	find_all(s);
	(void)hotspot_facts_read(&facts, s->tables, &memory, NULL);
	hotspot_names_free(s->names);
	return 0;
}
