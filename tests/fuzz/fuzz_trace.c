// SPDX-License-Identifier: Apache-2.0
/*
 * Read a damaged trace: the scene of the unit tests, with bytes changed. The input is a list of
 * changes: 3 bytes of offset, 1 of length, and the new bytes; a length of 0 cuts the file there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../unit/sample_scene.h"
#include "fuzz.h"
#include "trace/trace.h"

static char directory[] = "/tmp/skein-fuzz-XXXXXX", path[64];
static uint8_t *base, *copy;
static FILE *nowhere;
static size_t base_size, samples;

static void clean_up(void)
{
	unlink(path);
	rmdir(directory);
}

static void check(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct sink *sink = NULL;
	struct error err;
	struct stat st;
	int fd;

	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "we");
	check(nowhere && mkdtemp(directory) != NULL);
	atexit(clean_up);
	snprintf(path, sizeof(path), "%s/a.skein", directory);
	check(trace_writer(&sink, path, &err) == 0);
	check(pipe_join(scene_source(), sink, &err) == 0);
	sink_free(sink);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	check(fd >= 0 && fstat(fd, &st) == 0);
	base_size = (size_t)st.st_size;
	base = malloc(base_size);
	copy = malloc(base_size);
	check(base && copy && read(fd, base, base_size) == st.st_size);
	close(fd);
	return 0;
}

static size_t damage(const uint8_t *data, size_t size)
{
	size_t end = base_size;

	memcpy(copy, base, base_size);
	while (size >= 4) {
		size_t at = (data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % base_size;
		size_t length = data[3] < size - 4 ? data[3] : size - 4;

		data += 4;
		size -= 4;
		if (!length)
			end = at;
		if (length > base_size - at)
			length = base_size - at;
		memcpy(copy + at, data, length);
		data += length;
		size -= length;
	}
	return end;
}

static int take(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	size_t length = 0;

	samples += kind == KIND_SAMPLE;
	(void)s;
	(void)err;
	for (unsigned int i = 0; i < kinds[kind].field_count; i++) {
		const struct field *f = &kinds[kind].fields[i];

		if (f->type == FIELD_TEXT)
			length += strlen(field_text(f, record));
	}
	return length > 1u << 30 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sink_ops ops = {.put = take};
	struct sink sink = {.ops = &ops, .wants = WANT_ALL};
	struct source *source = NULL;
	struct trace *t = NULL;
	struct error err;
	size_t end;
	int fd;

	samples = 0;
	fd = open(path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);
	end = damage(data, size);

	check(fd >= 0 && write(fd, copy, end) == (ssize_t)end);
	close(fd);
	if (trace_open(&t, path, &err) < 0) {
		check(size > 0);
		return 0;
	}
	if (trace_source(&source, t, &err) == 0)
		(void)source->ops->run(source, &sink, &err);
	/* Look stacks up by their ids. */
	trace_query(t, "SELECT count(id) FROM sample LEFT JOIN stack ON id = stack", QUERY_CSV,
		    nowhere, &err);
	/* An undamaged trace is complete; otherwise this test would test nothing. */
	check(size > 0 || samples == SCENE_SAMPLES);
	source_free(source);
	trace_close(t);
	return 0;
}
