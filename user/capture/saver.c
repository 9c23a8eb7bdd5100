// SPDX-License-Identifier: Apache-2.0
/* Chooses the stacks to keep, by the way in which they ended and the module in which they ended. */
#include "capture/saver.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/vector.h"

/*
 * Limits on kept stacks of one kind and on all files, so that one broken module leaves room for the
 * stacks of other modules, and all files together do not fill the disk.
 */
#define ALIKE_MAX 20
#define SAVED_FILES_MAX 1000
/* Numbers tried for a file name; names taken by an earlier recording are skipped. */
#define FILE_NUMBERS_MAX 1000000

/* Stacks of one kind: those that ended in the same way and in the same module. */
struct alike_stacks {
	enum stack_end end;
	bool whole;
	uint64_t object;
	uint32_t kept;
};

struct saver {
	int directory;
	bool good;
	uint64_t seen, kept;
	uint32_t number; /* number of the next file */
	VECTOR(struct alike_stacks) groups;
	struct finished_stack
		again; /* Result of walking a stack again; too large for a thread's stack. */
	uint64_t read[FINISH_READ_WORDS];
};

int saver_new(struct saver **out, const char *directory, bool good, struct error *err)
{
	struct saver *s;
	int fd;

	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return error_errno(err, -errno, "cannot make %s", directory);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno, "cannot open the directory %s", directory);
	s = calloc(1, sizeof(*s));
	if (!s) {
		close(fd);
		return error_errno(err, -ENOMEM, "stacks to keep");
	}
	outfile_give_to_invoker(fd);
	s->directory = fd;
	s->good = good;
	s->number = 1;
	*out = s;
	return 0;
}

void saver_free(struct saver *s)
{
	if (!s)
		return;
	close(s->directory);
	vector_free(&s->groups);
	free(s);
}

void saver_get_counts(const struct saver *s, uint64_t *out_seen, uint64_t *out_kept)
{
	*out_seen = s->seen;
	*out_kept = s->kept;
}

/*
 * Return the module (object.id) by which a stack is grouped: that of the outermost frame, which is
 * at fault if the stack is broken; for a complete stack, that of the innermost frame. 0: not known.
 */
static uint64_t group_object(const struct ended_stack *e, bool whole)
{
	uint64_t word = e->frames[whole ? 0 : e->count - 1];
	const struct space_mapping *m;

	m = space_find(e->space, word & ((1ULL << WIRE_TAG_SHIFT) - 1));
	return m && m->object ? m->object->id : 0;
}

/* Return the group of a stack; NULL without memory. */
static struct alike_stacks *find_group(struct saver *s, const struct ended_stack *e, bool whole)
{
	const struct alike_stacks new = {
		.end = e->end,
		.whole = whole,
		.object = group_object(e, whole),
	};

	for (size_t i = 0; i < s->groups.count; i++) {
		struct alike_stacks *g = &s->groups.items[i];

		if (g->end == new.end && g->whole == whole && g->object == new.object)
			return g;
	}
	return vector_push(&s->groups, new) ? NULL : &s->groups.items[s->groups.count - 1];
}

/*
 * Return whether a stack is complete: its walk ended where a thread begins. A walk by the BPF
 * programs may have gone beyond the copied stack. Whether that walk reached the root is then not
 * known here, and the stack counts as complete.
 */
static bool is_whole(const struct saver *s, const struct ended_stack *e)
{
	return e->end == END_WALKED && (s->again.rooted || s->again.end != END_WALKED);
}

/* Make "why-program", of characters that are safe in file names. */
static void stack_file_name(const struct ended_stack *e, bool whole, char *buf, size_t size)
{
	const char *why = stack_end_word(e->end);

	if (e->end == END_WALKED)
		why = whole ? "whole" : stack_end_word(END_UNKNOWN_ROOT);
	snprintf(buf, size, "%s-%s", why, e->program);
	for (char *c = buf; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._+-", *c))
			*c = '-';
}

/* Create a file with an unused name. Return its descriptor or a negative errno. */
static int create_stack_file(struct saver *s, const char *name)
{
	while (s->number < FILE_NUMBERS_MAX) {
		char path[128];
		int fd;

		snprintf(path, sizeof(path), "%s-%04u.stack", name, s->number++);
		fd = openat(s->directory, path,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

static int save_stack(struct saver *s, const struct finish_world *world,
		      const struct ended_stack *e)
{
	char name[96];
	FILE *out;
	int fd, ret;

	stack_file_name(e, is_whole(s, e), name, sizeof(name));
	fd = create_stack_file(s, name);
	if (fd < 0)
		return fd;
	outfile_give_to_invoker(fd);
	out = fdopen(fd, "w");
	if (!out) {
		ret = -errno;
		close(fd);
		return ret;
	}
	ret = saved_write(out, world, e, &s->again);
	if (!ret && (fflush(out) || ferror(out)))
		ret = -errno;
	if (fclose(out) && !ret)
		ret = -errno;
	return ret;
}

int saver_offer(struct saver *s, const struct finish_world *world, const struct ended_stack *e,
		struct error *err)
{
	struct finish_world watched = *world;
	struct alike_stacks *g;
	bool whole;
	int ret;

	memset(s->read, 0, sizeof(s->read));
	watched.read = s->read;
	/*
	 * If a table is missing, the stack cannot be walked again, and is neither kept nor counted.
	 */
	if (!e->count || finish_stack(&s->again, &watched, &e->begin))
		return 0;
	whole = is_whole(s, e);
	if (whole && (!s->good || !s->again.rooted))
		return 0;
	s->seen++;
	g = find_group(s, e, whole);
	if (!g)
		return error_errno(err, -ENOMEM, "stacks to keep");
	if (g->kept >= ALIKE_MAX || s->kept >= SAVED_FILES_MAX)
		return 0;
	g->kept++;
	s->kept++;
	ret = save_stack(s, &watched, e);
	return ret ? error_errno(err, ret, "a stack to keep") : 0;
}
