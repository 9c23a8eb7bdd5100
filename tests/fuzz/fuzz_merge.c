// SPDX-License-Identifier: Apache-2.0
/*
 * Traces with wrong contents but right checksums: words in a scene's chunks are changed, the result
 * is merged with the other scene and written, and the merged trace is read. The first byte chooses
 * the scene; a change is 12 bytes: chunk, row (2), column, and a word (8), which replaces the old
 * word or, with the column's highest bit, is added to it.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "../unit/sample_scene.h"
#include "../unit/sched_scene.h"
#include "analyze/profile.h"
#include "fuzz.h"
#include "trace/codec.h"
#include "trace/merge.h"

#define CHANGE_BYTES 12

static char directory[] = "/tmp/skein-fuzz-XXXXXX";
static char scenes[2][64], changed[64], merged[64];
static struct codec codec;

static void clean_up(void)
{
	const char *const all[] = {scenes[0], scenes[1], changed, merged};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		unlink(all[i]);
	rmdir(directory);
}

static void check(int ok)
{
	if (!ok)
		abort();
}

static void write_scene(struct source *scene, const char *path)
{
	struct sink *sink = NULL;
	struct error err;

	check(trace_writer(&sink, path, &err) == 0 && pipe_join(scene, sink, &err) == 0);
	sink_free(sink);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	check(mkdtemp(directory) != NULL);
	atexit(clean_up);
	for (int i = 0; i < 2; i++)
		snprintf(scenes[i], sizeof(scenes[i]), "%s/scene-%d.skein", directory, i);
	snprintf(changed, sizeof(changed), "%s/changed.skein", directory);
	snprintf(merged, sizeof(merged), "%s/merged.skein", directory);
	write_scene(scene_source(), scenes[0]);
	write_scene(sched_scene_source(), scenes[1]);
	return 0;
}

static void copy(const char *from, const char *to)
{
	char block[4096];
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	size_t got;

	check(in && out);
	while ((got = fread(block, 1, sizeof(block), in)) > 0)
		check(fwrite(block, 1, got, out) == got);
	check(fclose(out) == 0);
	fclose(in);
}

static void change(struct columns *c, const uint8_t *at)
{
	uint64_t *words = columns_at(c, (at[3] & 0x7f) % c->width), word;
	uint32_t row = (at[1] | (uint32_t)at[2] << 8) % c->count;

	memcpy(&word, at + 4, sizeof(word));
	words[row] = at[3] & 0x80 ? words[row] + word : word;
}

/* Apply all changes of one chunk, the number-th one. */
static void change_chunk(sqlite3_stmt *get, sqlite3_stmt *put, unsigned int number,
			 const uint8_t *data, size_t size)
{
	const char *word = (const char *)sqlite3_column_text(get, 1);
	enum record_kind kind = 0;
	struct columns c = {0};
	struct error err;
	struct codec_blob blob = {.data = sqlite3_column_blob(get, 3),
				  .size = (size_t)sqlite3_column_bytes(get, 3),
				  .records = (uint64_t)sqlite3_column_int64(get, 2)};

	while (kind < KIND_COUNT && strcmp(kinds[kind].name, word))
		kind++;
	check(kind < KIND_COUNT &&
	      codec_decode(&codec, &blob, (struct codec_choice){kinds[kind].field_count, ~0ull}, &c,
			   &err) == 0);
	for (; size >= CHANGE_BYTES; data += CHANGE_BYTES, size -= CHANGE_BYTES)
		if (data[0] == number)
			change(&c, data);
	check(codec_encode(&codec, kind, &c, &blob, &err) == 0);
	sqlite3_bind_blob64(put, 1, blob.data, blob.size, SQLITE_STATIC);
	sqlite3_bind_int64(put, 2, sqlite3_column_int64(get, 0));
	check(sqlite3_step(put) == SQLITE_DONE && sqlite3_reset(put) == SQLITE_OK);
	columns_free(&c);
}

static void change_file(const uint8_t *data, size_t size)
{
	sqlite3_stmt *get = NULL, *put = NULL;
	sqlite3 *db = NULL;
	unsigned int number = 0;

	check(!sqlite3_open(changed, &db) &&
	      !sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL) &&
	      !sqlite3_prepare_v2(db, "SELECT id, kind, records, data FROM chunk ORDER BY id", -1,
				  &get, NULL) &&
	      !sqlite3_prepare_v2(db, "UPDATE chunk SET data = ? WHERE id = ?", -1, &put, NULL));
	while (sqlite3_step(get) == SQLITE_ROW)
		change_chunk(get, put, number++, data, size);
	sqlite3_finalize(get);
	sqlite3_finalize(put);
	check(!sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
	sqlite3_close(db);
}

static void merge(struct trace *a, struct trace *b)
{
	const struct merge_part parts[] = {{a, "a"}, {b, "b"}};
	struct source *source = NULL;
	struct sink *sink = NULL;
	struct error err;

	unlink(merged);
	check(merge_source(&source, parts, 2, NULL, &err) == 0);
	check(trace_writer(&sink, merged, &err) == 0);
	check(pipe_join(source, sink, &err) == 0);
	sink_free(sink);
	source_free(source);
}

/* Read the merged trace, which must succeed. */
static void read_merged(void)
{
	struct profile *profile = NULL;
	struct source *source = NULL;
	struct trace *t = NULL;
	struct error err;

	check(trace_open(&t, merged, &err) == 0);
	check(trace_source(&source, t, &err) == 0);
	check(profile_read(&profile, source, NULL, &err) == 0);
	profile_free(profile);
	source_free(source);
	trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace *a = NULL, *b = NULL;
	struct error err;
	int which;

	if (!size)
		return 0;
	which = data[0] & 1;
	copy(scenes[which], changed);
	change_file(data + 1, size - 1);
	check(trace_open(&a, changed, &err) == 0 && trace_open(&b, scenes[!which], &err) == 0);
	merge(a, b);
	trace_close(a);
	trace_close(b);
	read_merged();
	return 0;
}
