// SPDX-License-Identifier: Apache-2.0
/* Several readers of one trace make the same profile as one reader, also of a damaged trace. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/filters.h"
#include "sample_scene.h"
#include "suite.h"
#include "totals.h"
#include "trace_file.h"

#define ROUNDS 300

static char path[] = "/tmp/skein-readers-XXXXXX/trace.skein";

/* The members of a profile that damage changes; all 0 if the trace cannot be read at all. */
struct outcome {
	uint64_t missing, stacks, sums, samples, losses, lost;
};

static void read_outcome(struct outcome *ret, bool by_two)
{
	struct profile_view view = {0};
	struct filter every = {0};
	struct profile *p = NULL;
	struct filtered_input in = {0};
	struct error err = {""};
	int rc = filtered_input_open(&in, path, &every, &err);

	*ret = (struct outcome){0};
	if (!rc)
		rc = by_two ? filtered_input_read_profile(&p, &in, &view, &err)
			    : profile_read(&p, in.source, &view, &err);
	if (!rc) {
		*ret = (struct outcome){p->missing,	    p->count.stacks, p->count.sums,
					totals_of(p).count, p->count.losses, 0};
		for (uint32_t i = 0; i < p->count.losses; i++)
			ret->lost += p->losses[i].count;
	}
	profile_free(p);
	filtered_input_close(&in);
}

static void write_trace(void)
{
	*strrchr(path, '/') = '\0';
	ck_assert_ptr_nonnull(mkdtemp(path));
	path[strlen(path)] = '/';
	trace_file_write(path, scene_source());
}

START_TEST(damage_is_counted_alike)
{
	static uint8_t data[1 << 20];
	unsigned int damaged = 0;
	ssize_t size;
	int fd;

	write_trace();
	fd = open(path, O_RDWR);
	size = read(fd, data, sizeof(data));
	ck_assert_int_gt(size, 4096);
	srandom(1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		off_t at = 4096 + random() % (size - 4096 - 64);
		struct outcome one, two;
		uint8_t bytes[64];

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)random();
		if (round) /* the first round leaves the trace as written */
			ck_assert_int_eq(pwrite(fd, bytes, sizeof(bytes), at), sizeof(bytes));
		read_outcome(&one, false);
		read_outcome(&two, true);
		ck_assert_msg(!memcmp(&one, &two, sizeof(one)), "round %u", round);
		ck_assert(round || (one.sums && one.losses == 3));
		damaged += one.losses > 3;
		ck_assert_int_eq(pwrite(fd, data, (size_t)size, 0), size);
	}
	/* in the other rounds the bytes are unused, or the trace is refused */
	ck_assert_uint_gt(damaged, 0);
	close(fd);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}
END_TEST

SUITE("parallel read", damage_is_counted_alike)
