// SPDX-License-Identifier: Apache-2.0
/*
 * pprof.c and gzip.c: the output is reproducible, and write errors are reported. pprof itself reads
 * the file in tests/readers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "export/export.h"
#include "export/gzip.h"
#include "sample_scene.h"
#include "suite.h"

static int export_scene(FILE *out)
{
	struct sink *sink = NULL;
	struct error err = {""};
	struct export_options o = {0};
	int rc;

	ck_assert_int_eq(export_format_for_path("x.pb.gz")->sink(&sink, out, &o, &err), 0);
	rc = pipe_join(scene_source(), sink, &err);
	sink_free(sink);
	return rc;
}

START_TEST(the_same_bytes_every_time)
{
	char *text[2] = {NULL, NULL};
	size_t size[2] = {0, 0};

	for (int i = 0; i < 2; i++) {
		FILE *out = open_memstream(&text[i], &size[i]);

		ck_assert_int_eq(export_scene(out), 0);
		fclose(out);
	}
	ck_assert_uint_eq(size[0], size[1]);
	ck_assert_mem_eq(text[0], text[1], size[0]);
	free(text[0]);
	free(text[1]);
}
END_TEST

START_TEST(a_full_disk_is_seen)
{
	FILE *out = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(out);
	setbuf(out, NULL);
	ck_assert_int_lt(export_scene(out), 0);
	fclose(out);
}
END_TEST

START_TEST(gzip_gives_back_what_it_got)
{
	enum { SIZE = 3000000 };
	unsigned char *data = malloc(SIZE), *back = malloc(SIZE + 1);
	FILE *file = tmpfile();
	FILE *stream = gzip_stream(file);
	gzFile in;

	for (size_t i = 0; i < SIZE; i++)
		data[i] = (i * 2654435761u) >> 13;
	for (size_t at = 0; at < SIZE; at += 100000)
		ck_assert_uint_eq(fwrite(data + at, 1, 100000, stream), 100000);
	ck_assert_int_eq(fclose(stream), 0);
	fflush(file);
	rewind(file);
	in = gzdopen(dup(fileno(file)), "r");
	ck_assert_int_eq(gzread(in, back, SIZE + 1), SIZE);
	ck_assert_mem_eq(data, back, SIZE);
	gzclose(in);
	fclose(file);
	free(data);
	free(back);
}
END_TEST

START_TEST(why_it_was_not_compressed_is_remembered)
{
	FILE *full = fopen("/dev/full", "w"), *stream = gzip_stream(full);

	ck_assert_ptr_nonnull(stream);
	setvbuf(full, NULL, _IONBF, 0);
	fputs("something", stream);
	errno = 0;
	ck_assert_int_eq(fclose(stream), EOF);
	ck_assert_int_eq(errno, ENOSPC);
	fclose(full);
}
END_TEST

START_TEST(formats_by_name_and_ending)
{
	ck_assert_ptr_eq(export_format_named("folded"), export_format_for_path("a/b.folded"));
	ck_assert_ptr_null(export_format_named("Folded"));
	ck_assert_ptr_eq(export_format_named("folded"), export_format_for_path("b.folded.gz"));
	ck_assert_ptr_eq(export_format_named("json"), export_format_for_path("b.skein.json.gz"));
	ck_assert_ptr_eq(export_format_named("pprof"), export_format_for_path("a.json/b.pb.gz"));
	ck_assert_ptr_null(export_format_for_path("b.folded.gzip"));
	ck_assert_ptr_null(export_format_for_path("b.gz"));
	ck_assert_ptr_null(export_format_for_path(""));
	ck_assert_ptr_null(export_format_for_path(".folded"));
	ck_assert_ptr_null(export_format_for_path("folded"));
}
END_TEST

SUITE("pprof", the_same_bytes_every_time, a_full_disk_is_seen, gzip_gives_back_what_it_got,
      why_it_was_not_compressed_is_remembered, formats_by_name_and_ending)
