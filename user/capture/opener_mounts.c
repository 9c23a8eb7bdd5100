// SPDX-License-Identifier: Apache-2.0
/*
 * Determines which file systems are local: this kernel serves them from its own devices or memory.
 * On all others stat() and open() wait for a program (FUSE) or another machine (NFS, CIFS, 9p), so
 * neither call can be used to find out. The table of mounts is used instead; the kernel writes it
 * without a request to a file system.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "capture/opener_wire.h"
#include "capture/procfs.h"

/*
 * Maximum number of lines read of a table of mounts; a device that is only in later lines counts as
 * not in the table.
 */
#define LINES_MAX 4096
/* time (s) for which the result for a device is cached, since device numbers are reused */
#define MOUNT_CACHE_TIME 10

/* Types of file systems that this kernel keeps on its own devices or in memory. */
static const char *const local[] = {
	"ext2",	   "ext3",    "ext4",	  "xfs",     "btrfs",  "tmpfs",	    "ramfs",  "rootfs",
	"overlay", "erofs",   "squashfs", "f2fs",    "zfs",    "bcachefs",  "jfs",    "reiserfs",
	"nilfs2",  "udf",     "iso9660",  "vfat",    "msdos",  "exfat",	    "ntfs3",  "hfsplus",
	"cramfs",  "romfs",   "ubifs",	  "jffs2",   "proc",   "sysfs",	    "devpts", "devtmpfs",
	"cgroup",  "cgroup2", "debugfs",  "tracefs", "mqueue", "hugetlbfs", "bpf",    "securityfs",
};

static bool is_local_type(const char *type)
{
	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		if (!strcmp(type, local[i]))
			return true;
	return false;
}

/* Parse a line such as "36 35 98:0 / /mnt rw,noatime shared:1 - ext4 /dev/vda rw". */
static bool parse_mount(const char *line, uint32_t *major, uint32_t *minor, char type[32])
{
	const char *rest = strstr(line, " - ");

	return rest && sscanf(line, "%*u %*u %u:%u", major, minor) == 2 &&
	       sscanf(rest, " - %31s", type) == 1;
}

/*
 * Look up a device in a table of mounts. Return 1 if its file system is local, 0 if it is not
 * local, -1 if the table cannot be opened or does not have the device.
 */
static int look_up_device(const char *path, uint32_t major, uint32_t minor)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), found = -1;
	struct procfs_lines lines;
	unsigned int count = 0;
	uint32_t at[2];
	char type[32], *line;

	if (fd < 0)
		return -1;
	procfs_lines_init(&lines, fd);
	while (found < 0 && count++ < LINES_MAX && (line = procfs_line(&lines)))
		if (parse_mount(line, &at[0], &at[1], type) && at[0] == major && at[1] == minor)
			found = is_local_type(type);
	close(fd);
	return found;
}

void opener_mounts_init(struct opener_mounts *m)
{
	int fd = memfd_create("shared memory", MFD_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		m->shared_memory = st.st_dev;
	if (fd >= 0)
		close(fd);
}

/*
 * Return whether the file system of a device is local. If neither the process's table of mounts nor
 * the opener's has the device, then a disk (major not 0) counts as local and as mounted elsewhere;
 * a device without a disk (major 0) may be anything, and does not count as local.
 */
static bool is_device_local(uint32_t pid, uint32_t major, uint32_t minor)
{
	char path[64];
	int found;

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", pid);
	found = pid ? look_up_device(path, major, minor) : -1;
	if (found < 0)
		found = look_up_device("/proc/self/mountinfo", major, minor);
	return found < 0 ? major != 0 : found;
}

bool opener_is_local(struct opener_mounts *m, uint32_t pid, uint32_t major, uint32_t minor)
{
	struct opener_mount *known = &m->known[(major * 31 + minor) % OPENER_MOUNTS_KNOWN];
	uint64_t device = makedev(major, minor);
	struct timespec now;

	if (device == m->shared_memory)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (known->device == device && now.tv_sec < known->until)
		return known->local;
	*known = (struct opener_mount){
		.device = device,
		.until = now.tv_sec + MOUNT_CACHE_TIME,
		.local = is_device_local(pid, major, minor),
	};
	return known->local;
}
