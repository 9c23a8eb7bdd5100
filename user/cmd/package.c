// SPDX-License-Identifier: Apache-2.0
/*
 * Find packages by dpkg's lists of files, which are read here because dpkg itself may take a lock,
 * and a path from a trace should not become an argument of a program.
 */
#include "cmd/package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DPKG_LISTS "/var/lib/dpkg/info"
#define RPM_DATABASE "/var/lib/rpm"
#define DEBUG_FILES "/usr/lib/debug/.build-id"
#define LIST_SUFFIX ".list"
#define LIST_BYTES_MAX (16 << 20)
/* Characters that mean nothing to a shell. */
#define PLAIN \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-@"

bool package_is_here(const char *machine_id)
{
	char here[64] = "";
	FILE *f = fopen("/etc/machine-id", "re");

	if (f && !fgets(here, sizeof(here), f))
		*here = '\0';
	if (f)
		fclose(f);
	here[strcspn(here, "\n")] = '\0';
	return *here && !strcmp(here, machine_id);
}

bool package_has_debug_file(const char *build_id)
{
	size_t length = strlen(build_id);
	char path[256];

	if (length < 4 || build_id[strspn(build_id, "0123456789abcdef")])
		return false;
	return snprintf(path, sizeof(path), DEBUG_FILES "/%.2s/%s.debug", build_id, build_id + 2) <
		       (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

/* Read a list of files into memory, with a NUL at its end, for the caller to free. */
static char *read_file_list(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < LIST_BYTES_MAX)
		text = malloc((size_t)st.st_size + 1);
	if (text) {
		n = read(fd, text, (size_t)st.st_size);
		text[n < 0 ? 0 : n] = '\0';
	}
	close(fd);
	return text;
}

/* Return whether a line of the text is the path. */
static bool has_line(const char *text, const char *path)
{
	size_t length = strlen(path);

	for (const char *at = text; (at = strstr(at, path)); at++)
		if ((at == text || at[-1] == '\n') && at[length] == '\n')
			return true;
	return false;
}

/* Return whether the list has the file, also by its path before /usr was merged. */
static bool list_has(const char *text, const char *path)
{
	return has_line(text, path) ||
	       (!strncmp(path, "/usr/", 5) && has_line(text, path + strlen("/usr")));
}

/* Write the name of the package whose list has the file to buf. */
static bool find_owner(const char *path, char *buf, size_t size)
{
	DIR *lists = opendir(DPKG_LISTS);
	struct dirent *entry;
	bool found = false;

	while (lists && !found && (entry = readdir(lists))) {
		size_t length = strlen(entry->d_name), suffix = strlen(LIST_SUFFIX);
		char *text;

		if (length <= suffix || strcmp(entry->d_name + length - suffix, LIST_SUFFIX))
			continue;
		text = read_file_list(dirfd(lists), entry->d_name);
		found = text && list_has(text, path);
		free(text);
		if (found) /* "NAME.list" or "NAME:ARCHITECTURE.list" */
			snprintf(buf, size, "%.*s",
				 (int)(strcspn(entry->d_name, ":") < length - suffix
					       ? strcspn(entry->d_name, ":")
					       : length - suffix),
				 entry->d_name);
	}
	if (lists)
		closedir(lists);
	return found;
}

bool package_debug_command(const char *path, char *buf, size_t size)
{
	char owner[256];

	if (path[0] != '/' || path[strspn(path, PLAIN)])
		return false;
	if (find_owner(path, owner, sizeof(owner))) {
		/* the C library's debug files are in a package of the main archive */
		bool libc = !strcmp(owner, "libc6");

		snprintf(buf, size, "apt install %s%s", owner, libc ? "-dbg" : "-dbgsym");
		return true;
	}
	if (access(RPM_DATABASE, F_OK) < 0 || access(DPKG_LISTS, F_OK) == 0)
		return false;
	snprintf(buf, size, "dnf debuginfo-install $(rpm -qf %s)", path);
	return true;
}
