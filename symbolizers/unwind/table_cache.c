// SPDX-License-Identifier: Apache-2.0
/*
 * Keep tables in files: a header, and the table as it is in memory. A file is written under a
 * temporary name and renamed, without waiting for the disk: a file damaged by a crash has a wrong
 * checksum.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/vector.h"
#include "symbolizers/unwind/table_cache.h"

#define FILE_MAGIC 0x0065686361637475ull /* "utcache" */
#define SUFFIX ".unwind"
#define NEW_PREFIX ".new-"
/* Seconds after which an unfinished file counts as left by a recorder that died. */
#define NEW_AGE_MAX 3600
/* Bytes of a file's name: build-id, size and hash in hex, hyphens, suffix with NUL. */
#define NAME_SIZE (2 * 64 + 16 + 32 + 2 + sizeof(SUFFIX))
/* Minimum size with which a file is counted, in bytes; an empty file also takes an inode. */
#define FILE_COST_MIN 4096

struct cache_file_header {
	uint64_t magic;
	uint64_t size; /* bytes of the table */
	uint64_t checksum[2]; /* XXH3, 128 bits, of the file's name, magic, size and table */
};

struct table_cache {
	int directory;
	uint64_t budget;
	uint64_t written; /* bytes written since the cache was last trimmed */
};

/* A file that may be removed. */
struct cached_file {
	char name[NAME_SIZE];
	int64_t used; /* ns, CLOCK_REALTIME: the file's mtime */
	uint64_t cost; /* bytes on disk */
};

typedef VECTOR(struct cached_file) cached_files_t;

static int check_cache_directory(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

int table_cache_open(struct table_cache **out, const char *directory, uint64_t budget)
{
	struct table_cache *c = calloc(1, sizeof(*c));
	int ret = -ENOMEM;

	if (!c)
		return ret;
	c->budget = c->written = budget;
	/* if this fails and there is no directory, open() fails as well */
	(void)mkdir(directory, 0700);
	c->directory = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ret = c->directory < 0 ? -errno : check_cache_directory(c->directory);
	if (ret < 0)
		goto end;
	*out = c;
	c = NULL;
end:
	table_cache_close(c);
	return ret;
}

void table_cache_close(struct table_cache *c)
{
	if (c && c->directory >= 0)
		close(c->directory);
	free(c);
}

static void cache_file_name(const struct unwind_key *key, char out[NAME_SIZE])
{
	snprintf(out, NAME_SIZE, "%s-%" PRIx64 "-%016" PRIx64 "%016" PRIx64 SUFFIX, key->build_id,
		 key->size, key->hash[0], key->hash[1]);
}

static void cache_checksum(const char *name, const struct cache_file_header *h, const void *table,
			   uint64_t out[2])
{
	XXH3_state_t state;
	XXH128_hash_t hash;

	XXH3_128bits_reset(&state);
	XXH3_128bits_update(&state, name, strlen(name));
	XXH3_128bits_update(&state, h, offsetof(struct cache_file_header, checksum));
	XXH3_128bits_update(&state, table, h->size);
	hash = XXH3_128bits_digest(&state);
	out[0] = hash.low64;
	out[1] = hash.high64;
}

static int read_cache_bytes(int fd, void *buffer, size_t size, off_t offset)
{
	char *p = buffer;
	ssize_t got;

	while (size) {
		got = pread(fd, p, size, offset);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -EBADMSG;
		if (got > 0) {
			p += got;
			offset += got;
			size -= (size_t)got;
		}
	}
	return 0;
}

static int write_cache_bytes(int fd, const void *buffer, size_t size)
{
	const char *p = buffer;
	ssize_t put;

	while (size) {
		put = write(fd, p, size);
		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			p += put;
			size -= (size_t)put;
		}
	}
	return 0;
}

/*
 * Check that a file is a regular file with the owner and the mode of a file of this cache, and get
 * its size in bytes.
 */
static int check_cache_file(int fd, uint64_t *out_size)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return -EBADMSG;
	*out_size = (uint64_t)st.st_size;
	return 0;
}

static int read_cache_header(int fd, struct cache_file_header *out)
{
	uint64_t size = 0;
	int ret = check_cache_file(fd, &size);

	if (!ret)
		ret = read_cache_bytes(fd, out, sizeof(*out), 0);
	if (!ret && (out->magic != FILE_MAGIC || out->size > UNWIND_TABLE_MAX ||
		     size != sizeof(*out) + out->size))
		ret = -EBADMSG;
	return ret;
}

static int read_cached_table(int fd, const char *name, void **out_bytes, struct unwind_table *out)
{
	struct cache_file_header h;
	uint64_t checksum[2];
	void *bytes = NULL;
	int ret = read_cache_header(fd, &h);

	if (ret < 0)
		return ret;
	bytes = malloc(h.size ? h.size : 1);
	if (!bytes)
		return -ENOMEM;
	ret = read_cache_bytes(fd, bytes, h.size, sizeof(h));
	if (ret < 0)
		goto end;
	cache_checksum(name, &h, bytes, checksum);
	ret = -EBADMSG;
	if (!memcmp(checksum, h.checksum, sizeof(checksum)))
		ret = unwind_table_check(out, bytes, h.size);
	if (ret < 0)
		goto end;
	*out_bytes = bytes;
	bytes = NULL;
end:
	free(bytes);
	return ret;
}

int table_cache_get(struct table_cache *c, const struct unwind_key *key, void **out_bytes,
		    struct unwind_table *out)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
	char name[NAME_SIZE];
	int fd, rc;

	cache_file_name(key, name);
	/* O_NONBLOCK: opening must not block, whatever kind of file has this name */
	fd = openat(c->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	rc = fd < 0 ? -errno : read_cached_table(fd, name, out_bytes, out);
	if (!rc)
		(void)futimens(fd, now); /* if this fails, the table is only removed too early */
	if (rc == -EBADMSG || rc == -ELOOP)
		(void)unlinkat(c->directory, name, 0);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int by_time_of_use(const void *a, const void *b)
{
	const struct cached_file *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* Return whether the cache could have given this name to a file; all other files are left alone. */
static bool is_cache_file_name(const char *name)
{
	return strlen(name) < NAME_SIZE &&
	       !strcmp(name + strspn(name, "0123456789abcdef-"), SUFFIX);
}

static int add_cached_file(const struct table_cache *c, const char *name, cached_files_t *entries)
{
	bool unfinished = !strncmp(name, NEW_PREFIX, sizeof(NEW_PREFIX) - 1);
	struct cached_file e;
	struct stat st;

	if (!is_cache_file_name(name + (unfinished ? sizeof(NEW_PREFIX) - 1 : 0)) ||
	    fstatat(c->directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (unfinished) {
		if (time(NULL) - st.st_mtime > NEW_AGE_MAX)
			(void)unlinkat(c->directory, name, 0);
		return 0;
	}
	strcpy(e.name, name);
	e.used = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	e.cost = (uint64_t)st.st_blocks * 512;
	if (e.cost < FILE_COST_MIN)
		e.cost = FILE_COST_MIN;
	return vector_push(entries, e);
}

static int list_cached_files(const struct table_cache *c, cached_files_t *out)
{
	/* Open the directory again, since a shared file position would stay at its end. */
	int fd = openat(c->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	int ret = dir ? 0 : -errno;

	while (!ret && (d = readdir(dir)))
		ret = add_cached_file(c, d->d_name, out);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return ret;
}

/* Remove the least recently used files, down to seven eighths of the budget. */
static void trim_table_cache(struct table_cache *c)
{
	uint64_t used = 0, limit = c->budget - c->budget / 8;
	cached_files_t entries = {0};

	c->written = 0;
	/* after an error, use the files found so far */
	(void)list_cached_files(c, &entries);
	for (size_t i = 0; i < entries.count; i++)
		used += entries.items[i].cost;
	if (entries.count)
		qsort(entries.items, entries.count, sizeof(*entries.items), by_time_of_use);
	for (size_t i = 0; i < entries.count && used > limit; i++) {
		if (unlinkat(c->directory, entries.items[i].name, 0) == 0)
			used -= entries.items[i].cost;
	}
	vector_free(&entries);
}

/* Write a file under a temporary name, then rename it. */
static int write_cached_table(const struct table_cache *c, const char *name,
			      const struct cache_file_header *h, const void *table)
{
	char temporary[NAME_SIZE];
	uint64_t random;
	int fd, rc;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return -EAGAIN;
	snprintf(temporary, sizeof(temporary), NEW_PREFIX "%016" PRIx64 SUFFIX, random);
	fd = openat(c->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	rc = write_cache_bytes(fd, h, sizeof(*h));
	if (!rc)
		rc = write_cache_bytes(fd, table, h->size);
	if (close(fd) < 0 && !rc)
		rc = -errno;
	if (!rc && renameat(c->directory, temporary, c->directory, name) < 0)
		rc = -errno;
	if (rc < 0)
		(void)unlinkat(c->directory, temporary, 0);
	return rc;
}

void table_cache_put(struct table_cache *c, const struct unwind_key *key,
		     const struct unwind_table *t)
{
	struct cache_file_header h = {.magic = FILE_MAGIC, .size = t->size};
	char name[NAME_SIZE];

	if (t->size > c->budget / 2)
		return;
	cache_file_name(key, name);
	cache_checksum(name, &h, t->header, h.checksum);
	if (write_cached_table(c, name, &h, t->header) < 0)
		return;
	c->written += sizeof(h) + t->size;
	if (c->written > c->budget / 8)
		trim_table_cache(c);
}
