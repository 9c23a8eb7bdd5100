// SPDX-License-Identifier: Apache-2.0
/* The cache of unwind tables: what comes out went in, and nothing else does. */
#include <dirent.h>
#include <errno.h>
#include <sys/wait.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/unwind/table_cache.h"

#define MIB (1ull << 20)

/* A table with as many pages as are asked for, of one row each. */
struct small {
	struct unwind_header header;
	struct unwind_rule rule;
	char rest[];
};

static struct unwind_table table_of(unsigned int pages, int32_t offset)
{
	size_t size = sizeof(struct small) + pages * (sizeof(struct unwind_page) + 4);
	struct small *s = calloc(1, size);
	struct unwind_page *page;
	struct unwind_table t;

	ck_assert_ptr_nonnull(s);
	page = (struct unwind_page *)s->rest;
	s->header = (struct unwind_header){
		.magic = UNWIND_TABLE_MAGIC,
		.version = UNWIND_TABLE_VERSION,
		.pages = pages,
		.rules = 1,
		.rows = pages,
	};
	s->rule = (struct unwind_rule){
		.kind = UNWIND_CFA, .reg = UNWIND_REG_SP, .cfa_offset = offset, .second = -8};
	for (unsigned int i = 0; i < pages; i++)
		page[i] = (struct unwind_page){.first = i, .count = 1};
	ck_assert_int_eq(unwind_table_check(&t, s, size), 0);
	return t;
}

static struct unwind_key key_of(unsigned int i)
{
	struct unwind_key key = {.build_id = "0123456789abcdef", .size = 100, .hash = {i, ~0ull}};

	return key;
}

static struct table_cache *open_cache(uint64_t budget)
{
	struct table_cache *c;

	ck_assert_int_eq(table_cache_open(&c, "cache", budget), 0);
	return c;
}

/* Put a table of some pages under key i. */
static void put(struct table_cache *c, unsigned int i, unsigned int pages)
{
	struct unwind_table t = table_of(pages, 16);
	struct unwind_key key = key_of(i);

	table_cache_put(c, &key, &t);
	free((void *)t.header);
}

/* The errno of getting key i, the size of its table in *ret_size. */
static int get(struct table_cache *c, unsigned int i, size_t *ret_size)
{
	struct unwind_key key = key_of(i);
	struct unwind_table t = {0};
	void *bytes = NULL;
	int rc = table_cache_get(c, &key, &bytes, &t);

	ck_assert(rc ? !bytes : (const void *)t.header == bytes);
	if (ret_size)
		*ret_size = t.size;
	free(bytes);
	return rc;
}

/* The one table that there is. */
static void path_of_only(char path[256])
{
	FILE *f = popen("ls -d $PWD/cache/*.unwind", "re");

	ck_assert_int_eq(fscanf(f, "%255s", path), 1);
	ck_assert_int_eq(fscanf(f, "%*s"), EOF);
	pclose(f);
}

static unsigned int count_files(const char *directory)
{
	DIR *dir = opendir(directory);
	unsigned int count = 0;
	struct dirent *d;

	while ((d = readdir(dir)))
		count += strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
	closedir(dir);
	return count;
}

START_TEST(what_was_put_is_got)
{
	struct unwind_table in = table_of(3, 24), out;
	struct unwind_key key = key_of(7), other;
	struct table_cache *c;
	struct stat st;
	char path[256];
	void *bytes;

	files_begin();
	c = open_cache(MIB);
	ck_assert_int_eq(stat("cache", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(table_cache_get(c, &key, &bytes, &out), -ENOENT);
	table_cache_put(c, &key, &in);
	table_cache_close(c);
	c = open_cache(MIB);
	ck_assert_int_eq(table_cache_get(c, &key, &bytes, &out), 0);
	ck_assert_mem_eq(bytes, in.header, in.size);
	ck_assert_uint_eq(out.size, in.size);
	free(bytes);
	/* every part of the key counts */
	other = key;
	strcpy(other.build_id, "");
	ck_assert_int_eq(table_cache_get(c, &other, &bytes, &out), -ENOENT);
	for (int i = 0; i < 3; i++) {
		other = key;
		*(i == 0 ? &other.size : &other.hash[i - 1]) ^= 1;
		ck_assert_int_eq(table_cache_get(c, &other, &bytes, &out), -ENOENT);
	}
	path_of_only(path);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	table_cache_close(c);
	free((void *)in.header);
}
END_TEST

START_TEST(the_longest_key_is_a_name)
{
	struct unwind_table in = table_of(1, 8), out;
	struct unwind_key key = {.size = ~0ull, .hash = {~0ull, ~0ull}};
	struct table_cache *c;
	void *bytes;

	memset(key.build_id, 'f', sizeof(key.build_id) - 1);
	files_begin();
	c = open_cache(MIB);
	table_cache_put(c, &key, &in);
	ck_assert_int_eq(table_cache_get(c, &key, &bytes, &out), 0);
	free(bytes);
	table_cache_close(c);
	free((void *)in.header);
}
END_TEST

/* Bits flipped, ends cut off, bytes behind the end: refused, and gone. */
START_TEST(no_damage_gets_through)
{
	struct table_cache *c;
	char path[256], *good;
	size_t size;

	files_begin();
	c = open_cache(MIB);
	put(c, 1, 2);
	path_of_only(path);
	good = file_read(path, &size);
	for (size_t bit = 0; bit < size * 8; bit++) {
		good[bit / 8] ^= (char)(1 << bit % 8);
		file_write(path, good, size);
		ck_assert_int_eq(chmod(path, 0600), 0);
		ck_assert_msg(get(c, 1, NULL) == -EBADMSG, "bit %zu", bit);
		ck_assert_int_eq(access(path, F_OK), -1);
		good[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t length = 0; length <= size + 1; length++) {
		file_write(path, good, length); /* one more: the NUL behind it */
		ck_assert_int_eq(chmod(path, 0600), 0);
		ck_assert_int_eq(get(c, 1, NULL), length == size ? 0 : -EBADMSG);
	}
	free(good);
	table_cache_close(c);
}
END_TEST

START_TEST(a_table_under_another_name_is_refused)
{
	struct table_cache *c;
	char path[256], other[256];

	files_begin();
	c = open_cache(MIB);
	put(c, 1, 2);
	path_of_only(path);
	strcpy(other, path);
	/* the hash is the end of the name: ...0001 and all ones */
	ck_assert_int_eq(other[strlen(other) - strlen("ffffffffffffffff.unwind") - 1], '1');
	other[strlen(other) - strlen("ffffffffffffffff.unwind") - 1] = '2';
	shell("cp -p %s %s", path, other);
	ck_assert_int_eq(get(c, 2, NULL), -EBADMSG);
	ck_assert_int_eq(get(c, 1, NULL), 0);
	table_cache_close(c);
}
END_TEST

START_TEST(what_others_may_have_written_is_refused)
{
	static const char *const commands[] = {
		"chmod g+w $f",
		"chmod o+w $f",
		"mv $f good && ln -s ../good $f",
		"rm $f && mkfifo -m 600 $f",
		"rm $f && ln -s /dev/zero $f",
		"chown 65534 $f",
	};
	size_t count = sizeof(commands) / sizeof(*commands) - (geteuid() != 0);
	struct table_cache *c;
	char path[256];

	files_begin();
	c = open_cache(MIB);
	put(c, 1, 2);
	path_of_only(path);
	for (size_t i = 0; i < count; i++) {
		shell("f=%s; %s", path, commands[i]);
		ck_assert_msg(get(c, 1, NULL) < 0, "%s", commands[i]);
		ck_assert_msg(access(path, F_OK) < 0, "%s", commands[i]);
		put(c, 1, 2);
		ck_assert_int_eq(get(c, 1, NULL), 0);
	}
	table_cache_close(c);
}
END_TEST

START_TEST(directories_of_others_are_refused)
{
	struct table_cache *c = NULL;

	files_begin();
	ck_assert_int_eq(table_cache_open(&c, "no/parent", MIB), -ENOENT);
	shell("mkdir real && ln -s real link && touch file && mkdir -m 0777 open group &&"
	      " chmod 0777 open && chmod 0770 group");
	ck_assert_int_eq(table_cache_open(&c, "link", MIB), -ENOTDIR);
	ck_assert_int_eq(table_cache_open(&c, "file", MIB), -ENOTDIR);
	ck_assert_int_eq(table_cache_open(&c, "open", MIB), -EPERM);
	ck_assert_int_eq(table_cache_open(&c, "group", MIB), -EPERM);
	ck_assert_ptr_null(c);
	ck_assert_uint_eq(count_files("real"), 0);
	if (geteuid() == 0) {
		shell("chown 65534 real");
		ck_assert_int_eq(table_cache_open(&c, "real", MIB), -EPERM);
	}
}
END_TEST

static uint64_t bytes_used(void)
{
	FILE *f = popen("du -B1 -s --apparent-size cache | cut -f1", "re");
	unsigned long bytes;

	ck_assert_int_eq(fscanf(f, "%lu", &bytes), 1);
	pclose(f);
	return bytes;
}

START_TEST(the_budget_is_kept_and_the_used_stay)
{
	const uint64_t budget = 2 * MIB;
	struct table_cache *c;
	size_t size;

	files_begin();
	c = open_cache(budget);
	for (unsigned int i = 0; i < 200; i++) {
		put(c, i, 5000); /* 60 kB */
		ck_assert_int_eq(get(c, i, &size), 0);
		ck_assert_uint_gt(size, 50000);
		ck_assert_int_eq(get(c, 0, NULL), 0);
		ck_assert_uint_le(bytes_used(), budget + 100000);
		usleep(1000); /* file systems count time in jiffies */
	}
	ck_assert_int_eq(get(c, 1, NULL), -ENOENT);
	ck_assert_uint_gt(bytes_used(), budget / 2);
	/* what would throw out half of the others is not kept */
	put(c, 200, 100000);
	ck_assert_int_eq(get(c, 200, NULL), -ENOENT);
	table_cache_close(c);
	/* the next recorder keeps it from its first table on */
	c = open_cache(MIB / 2);
	put(c, 201, 10);
	ck_assert_uint_le(bytes_used(), MIB / 2 + 100000);
	ck_assert_int_eq(get(c, 201, NULL), 0);
	table_cache_close(c);
}
END_TEST

START_TEST(what_is_not_its_own_stays)
{
	struct table_cache *c;

	files_begin();
	c = open_cache(MIB);
	shell("cd cache && head -c 2000000 /dev/zero > big && cp big own.unwind &&"
	      " cp big .new-1.unwind && cp big .new-2.unwind && touch -d '2 hours ago' .new-* &&"
	      " touch .new-2.unwind && mkdir ab.unwind && ln -s big ac.unwind");
	put(c, 1, 10);
	shell("cd cache && test -f big && test -f own.unwind && test -f .new-2.unwind &&"
	      " test -d ab.unwind && test -L ac.unwind && ! test -e .new-1.unwind");
	ck_assert_int_eq(get(c, 1, NULL), 0);
	table_cache_close(c);
}
END_TEST

START_TEST(two_recorders_do_not_disturb_each_other)
{
	struct table_cache *c;
	pid_t pid;
	int status;

	files_begin();
	pid = fork();
	ck_assert_int_ge(pid, 0);
	c = open_cache(MIB);
	for (unsigned int i = 0; i < 2000; i++) {
		int rc;

		put(c, i % 8, 100 + i % 8);
		rc = get(c, i % 8, NULL);
		/* the other one trims, but does not damage */
		if (rc && rc != -ENOENT) {
			fprintf(stderr, "%s\n", strerror(-rc));
			pid ? ck_abort() : _exit(1);
		}
	}
	table_cache_close(c);
	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(count_files("cache"), 8);
}
END_TEST

START_TEST(without_the_directory_nothing_happens)
{
	struct table_cache *c;

	files_begin();
	c = open_cache(MIB);
	shell("rm -r cache");
	put(c, 1, 10);
	ck_assert_int_eq(get(c, 1, NULL), -ENOENT);
	table_cache_close(c);
}
END_TEST

SUITE("table_cache", what_was_put_is_got, the_longest_key_is_a_name, no_damage_gets_through,
      a_table_under_another_name_is_refused, what_others_may_have_written_is_refused,
      directories_of_others_are_refused, the_budget_is_kept_and_the_used_stay,
      what_is_not_its_own_stays, two_recorders_do_not_disturb_each_other,
      without_the_directory_nothing_happens)
