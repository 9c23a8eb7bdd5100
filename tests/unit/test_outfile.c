// SPDX-License-Identifier: Apache-2.0
/*
 * outfile.c: a file is complete or absent, never written through a link, and a full disk is always
 * reported.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/outfile.h"
#include "suite.h"

static char folder[64];
static struct error err;

/* Enter a new folder; each test runs in its own process. */
static void enter_folder(void)
{
	strcpy(folder, "/tmp/test_outfile.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static size_t count_files(void)
{
	DIR *d = opendir(".");
	size_t n = 0;

	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void leave_folder(size_t files)
{
	DIR *d;

	ck_assert_uint_eq(count_files(), files);
	d = opendir(".");
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.')
			ck_assert_int_eq(remove(e->d_name), 0);
	closedir(d);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void expect_file(const char *path, const char *text)
{
	char got[256] = "";
	FILE *f = fopen(path, "r");

	ck_assert_ptr_nonnull(f);
	got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
	fclose(f);
	ck_assert_str_eq(got, text);
}

START_TEST(a_file_appears_when_it_is_complete)
{
	struct outfile f;
	struct stat st;

	enter_folder();
	ck_assert_int_eq(outfile_open(&f, "out", true, &err), 0);
	fputs("new", f.stream);
	fflush(f.stream);
	ck_assert_int_lt(access("out", F_OK), 0);
	ck_assert_int_eq(outfile_commit(&f, &err), 0);
	expect_file("out", "new");
	ck_assert_int_eq(stat("out", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	outfile_abort(&f);
	leave_folder(1);
}
END_TEST

START_TEST(an_older_file_stays_until_then)
{
	struct outfile f;

	enter_folder();
	write_file("out", "old");
	ck_assert_int_eq(outfile_open(&f, "out", true, &err), 0);
	fputs("new", f.stream);
	outfile_abort(&f);
	expect_file("out", "old");
	ck_assert_uint_eq(count_files(), 1);
	outfile_abort(&f);
	ck_assert_int_eq(outfile_open(&f, "out", true, &err), 0);
	fputs("new", f.stream);
	ck_assert_int_eq(outfile_commit(&f, &err), 0);
	expect_file("out", "new");
	leave_folder(1);
}
END_TEST

START_TEST(aborting_nothing_does_nothing)
{
	struct outfile f = {0};

	outfile_abort(&f);
}
END_TEST

static void expect_refusal(const char *path, int code, const char *text)
{
	struct outfile f = {.path = (char *)"untouched"};

	ck_assert_int_eq(outfile_open(&f, path, false, &err), code);
	ck_assert_str_eq(err.text, text);
	ck_assert_str_eq(f.path, "untouched");
}

START_TEST(what_must_not_be_written_is_refused)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	enter_folder();
	write_file("victim", "precious");
	ck_assert_int_eq(symlink("victim", "link"), 0);
	ck_assert_int_eq(symlink("nowhere", "dangling"), 0);
	ck_assert_int_eq(mkdir("folder", 0700), 0);
	ck_assert_int_eq(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
	expect_refusal("link", -ELOOP, "link is a symbolic link; name the file itself");
	expect_refusal("dangling", -ELOOP, "dangling is a symbolic link; name the file itself");
	expect_refusal("folder", -EISDIR, "folder is a directory");
	expect_refusal("socket", -EINVAL, "socket is neither a file nor a pipe");
	expect_refusal("", -EINVAL, "the name of the output file is empty");
	expect_refusal("no/such/place", -ENOENT,
		       "cannot create no/such/place: No such file or directory");
	expect_file("victim", "precious");
	close(s);
	leave_folder(5);
}
END_TEST

/*
 * During the writing, another process replaces the output by a link, or has a hard link to the old
 * file.
 */
START_TEST(links_made_meanwhile_are_replaced_and_not_followed)
{
	struct outfile f;
	struct stat st;

	enter_folder();
	write_file("victim", "precious");
	ck_assert_int_eq(link("victim", "out"), 0);
	ck_assert_int_eq(outfile_open(&f, "out", false, &err), 0);
	fputs("new", f.stream);
	ck_assert_int_eq(remove("out"), 0);
	ck_assert_int_eq(symlink("victim", "out"), 0);
	ck_assert_int_eq(outfile_commit(&f, &err), 0);
	ck_assert_int_eq(lstat("out", &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	expect_file("out", "new");
	expect_file("victim", "precious");
	leave_folder(2);
}
END_TEST

START_TEST(a_failed_rename_leaves_nothing_behind)
{
	struct outfile f;

	enter_folder();
	ck_assert_int_eq(outfile_open(&f, "out", false, &err), 0);
	fputs("new", f.stream);
	ck_assert_int_eq(mkdir("out", 0700), 0);
	ck_assert_int_eq(outfile_commit(&f, &err), -EISDIR);
	ck_assert_str_eq(err.text, "cannot write out: Is a directory");
	ck_assert_ptr_null(f.stream);
	leave_folder(1);
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
	struct outfile f;

	for (int much = 0; much < 3; much++) {
		ck_assert_int_eq(outfile_open(&f, "/dev/full", true, &err), 0);
		if (much == 2) /* unbuffered: commit has nothing left to write */
			setvbuf(f.stream, NULL, _IONBF, 0);
		fputs("little", f.stream);
		for (int i = 0; much && i < 100000; i++)
			fputs("more than a buffer", f.stream);
		ck_assert_int_eq(outfile_commit(&f, &err), -ENOSPC);
		ck_assert_str_eq(err.text, "cannot write /dev/full: No space left on device");
	}
}
END_TEST

/* The disk has room again when the file is completed, but a part in the middle is missing. */
START_TEST(an_error_that_passed_is_remembered)
{
	struct rlimit small = {.rlim_cur = 100000, .rlim_max = RLIM_INFINITY};
	struct outfile f;

	enter_folder();
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(outfile_open(&f, "out", true, &err), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 100000; i++)
		fputs("more than a buffer", f.stream);
	small.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_int_lt(outfile_commit(&f, &err), 0);
	leave_folder(0);
}
END_TEST

START_TEST(devices_and_pipes_are_written_to_as_they_are)
{
	char got[8] = "";
	struct outfile f;
	struct stat st;
	int reader;

	enter_folder();
	ck_assert_int_eq(outfile_open(&f, "/dev/null", true, &err), 0);
	ck_assert_int_eq(outfile_commit(&f, &err), 0);
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	reader = open("pipe", O_RDONLY | O_NONBLOCK);
	ck_assert_int_eq(outfile_open(&f, "pipe", true, &err), 0);
	fputs("data", f.stream);
	ck_assert_int_eq(outfile_commit(&f, &err), 0);
	ck_assert_int_eq(read(reader, got, sizeof(got)), 4);
	ck_assert_str_eq(got, "data");
	close(reader);
	leave_folder(1);
}
END_TEST

START_TEST(a_pipe_of_another_user_is_refused)
{
	enter_folder();
	if (geteuid() == 0) {
		ck_assert_int_eq(mkfifo("pipe", 0666), 0);
		ck_assert_int_eq(chown("pipe", 12345, 12345), 0);
		expect_refusal("pipe", -EPERM, "pipe belongs to another user");
		ck_assert_int_eq(remove("pipe"), 0);
	}
	leave_folder(0);
}
END_TEST

START_TEST(the_user_behind_sudo_gets_the_file)
{
	static const char *const bad[] = {
		"", "-1", "4294967295", "4294979641", "99999999999999999999", "12x"};
	struct outfile f;
	struct stat st;

	enter_folder();
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "12346", 1);
	ck_assert_int_eq(outfile_open(&f, "out", false, &err), 0);
	ck_assert_int_eq(outfile_commit(&f, &err), 0);
	ck_assert_int_eq(stat("out", &st), 0);
	ck_assert_uint_eq(st.st_uid, geteuid() ? geteuid() : 12345);
	ck_assert_uint_eq(st.st_gid, geteuid() ? getegid() : 12346);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("SUDO_UID", bad[i], 1);
		ck_assert_int_eq(outfile_open(&f, "out", false, &err), 0);
		ck_assert_int_eq(outfile_commit(&f, &err), 0);
		ck_assert_int_eq(stat("out", &st), 0);
		ck_assert_uint_eq(st.st_uid, geteuid());
	}
	leave_folder(1);
}
END_TEST

/* Replace stdout of this process by fd. Return the result of opening and committing "-". */
static int commit_to_stdout(int fd, bool binary, const char *text)
{
	int saved = dup(STDOUT_FILENO), r;
	struct outfile f;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	r = outfile_open(&f, "-", binary, &err);
	if (!r) {
		fputs(text, f.stream);
		r = outfile_commit(&f, &err);
	}
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return r;
}

START_TEST(stdout_takes_data_unless_a_person_would_see_it)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), ends[2];
	char got[8] = "";

	ck_assert_int_ge(terminal, 0);
	grantpt(terminal);
	unlockpt(terminal);
	terminal = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(terminal, 0);
	ck_assert_int_eq(commit_to_stdout(terminal, true, "\x1b"), -ENOTTY);
	ck_assert_str_eq(err.text, "binary data is not written to a terminal; name a file with -o");
	ck_assert_int_eq(commit_to_stdout(terminal, false, "text\n"), 0);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(commit_to_stdout(ends[1], true, "data"), 0);
	ck_assert_int_eq(read(ends[0], got, sizeof(got)), 4);
	ck_assert_str_eq(got, "data");
}
END_TEST

START_TEST(a_closed_pipe_or_full_disk_behind_stdout_is_an_error)
{
	int full = open("/dev/full", O_WRONLY), ends[2];

	ck_assert_int_eq(commit_to_stdout(full, true, "data"), -ENOSPC);
	ck_assert_str_eq(err.text, "cannot write to stdout: No space left on device");
	clearerr(stdout);
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(commit_to_stdout(ends[1], true, "data"), -EPIPE);
}
END_TEST

SUITE("outfile", a_file_appears_when_it_is_complete, an_older_file_stays_until_then,
      aborting_nothing_does_nothing, what_must_not_be_written_is_refused,
      links_made_meanwhile_are_replaced_and_not_followed, a_failed_rename_leaves_nothing_behind,
      a_full_disk_is_an_error, an_error_that_passed_is_remembered,
      devices_and_pipes_are_written_to_as_they_are, a_pipe_of_another_user_is_refused,
      the_user_behind_sudo_gets_the_file, stdout_takes_data_unless_a_person_would_see_it,
      a_closed_pipe_or_full_disk_behind_stdout_is_an_error)
