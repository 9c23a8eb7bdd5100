// SPDX-License-Identifier: Apache-2.0
/* Where the ring of the flight recorder is (flight.h). */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "serve/flight.h"

#define RING_FILE "ring.skein"

/* Write the path of the ring's own folder. Return 0 or a negative errno. */
static int name_ring_folder(char *out, const char *runtime, const char *folder)
{
	struct stat st;

	if (stat(folder, &st) < 0)
		return -errno;
	if (snprintf(out, PATH_MAX, "%s/flight-%llx-%llx", runtime, (unsigned long long)st.st_dev,
		     (unsigned long long)st.st_ino) >= PATH_MAX - (int)sizeof(RING_FILE "-journal"))
		return -ENAMETOOLONG;
	return 0;
}

/* Remove the files of a ring, of which only these names exist. */
static void remove_ring_files(const char *folder)
{
	static const char *const names[] = {RING_FILE, RING_FILE "-journal", RING_FILE ".old"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (snprintf(path, sizeof(path), "%s/%s", folder, names[i]) < (int)sizeof(path))
			unlink(path);
}

int flight_ring_prepare(char *out, const char *runtime, const char *folder, struct error *err)
{
	int ret = name_ring_folder(out, runtime, folder);

	if (ret)
		return error_errno(err, ret, "%s", runtime);
	if ((mkdir(runtime, 0700) < 0 && errno != EEXIST) ||
	    (mkdir(out, 0700) < 0 && errno != EEXIST))
		return error_errno(err, -errno, "%s", out);
	remove_ring_files(out);
	strcat(out, "/" RING_FILE);
	return 0;
}

void flight_ring_remove(const char *runtime, const char *folder)
{
	char path[PATH_MAX];

	if (name_ring_folder(path, runtime, folder))
		return;
	remove_ring_files(path);
	rmdir(path);
}

bool flight_ring_in_memory(const char *ring)
{
	char folder[PATH_MAX];
	struct statfs fs;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(ring, '/') - ring), ring);
	return statfs(folder, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}
