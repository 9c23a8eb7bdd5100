// SPDX-License-Identifier: Apache-2.0
/*
 * Finds control groups by mountinfo, the cgroup directories and the kernel's file handles. Formats:
 * proc(5), cgroups(7), open_by_handle_at(2).
 */
#include "capture/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/vector.h"
#include "capture/needs.h"
#include "capture/procfs.h"

#define INITIAL_NAMESPACE 0xEFFFFFFBU /* PROC_CGROUP_INIT_INO of include/linux/proc_ns.h */
#define FILEID_KERNFS 0xfe /* source: include/linux/exportfs.h */
#define KNOWN_PATHS 1024 /* a power of two */
#define CGROUP_SEARCH_MAX 100000 /* maximum number of directories that a search looks at */
#define CGROUP_SEARCH_DEPTH 64

/* The v1 controllers: their names in mountinfo and /proc/PID/cgroup, and the kernel's names. */
static const struct {
	const char *name, *subsystem;
} controllers[] = {
	/*
	 * Of the first CHOOSABLE controllers, the one that mountinfo lists first is chosen:
	 * container managers put every process into all of these.
	 */
	{"memory", "memory"},
	{"cpu", "cpu"},
	{"pids", "pids"},
	{"cpuset", "cpuset"},
	{"freezer", "freezer"},
#define CHOOSABLE 5
	{"cpuacct", "cpuacct"},
	{"blkio", "io"},
	{"devices", "devices"},
	{"net_cls", "net_cls"},
	{"perf_event", "perf_event"},
	{"net_prio", "net_prio"},
	{"hugetlb", "hugetlb"},
	{"rdma", "rdma"},
	{"misc", "misc"},
};

#define CONTROLLERS (int)(sizeof(controllers) / sizeof(controllers[0]))

struct hierarchy {
	/* v1: index of the first of controllers that the hierarchy has, -1: none; v2: -1 */
	int controller;
	bool unified;
	char *mount; /* path of the mount point */
	/* path, in the hierarchy, of the cgroup that is mounted there; "" for the root */
	char *root;
};

struct cached_path {
	uint64_t id;
	char *path; /* NULL: the id has no path */
};

struct cgroups {
	VECTOR(struct hierarchy) all;
	const struct hierarchy *chosen; /* NULL: none */
	int mount; /* descriptor of the chosen hierarchy's mount point; -1 until needed */
	bool namespaced;
	bool tested, no_handles; /* see may_use_handles() */
	struct cached_path known[KNOWN_PATHS]; /* indexed by the low bits of the id */
};

/* Return whether name is in a comma-separated list of size bytes. */
static bool is_listed(const char *list, size_t size, const char *name)
{
	const char *end = list + size;
	size_t length = strlen(name);

	while (list < end) {
		size_t n = strcspn(list, ",");

		n = n < (size_t)(end - list) ? n : (size_t)(end - list);
		if (n == length && !memcmp(list, name, n))
			return true;
		list += n + 1;
	}
	return false;
}

static int first_controller(const char *list)
{
	int i;

	for (i = 0; i < CONTROLLERS; i++)
		if (is_listed(list, strlen(list), controllers[i].name))
			return i;
	return -1;
}

static bool has_hierarchy(const struct cgroups *c, bool unified, int controller)
{
	size_t i;

	for (i = 0; i < c->all.count; i++) {
		const struct hierarchy *h = &c->all.items[i];

		if (h->unified == unified && h->controller == controller &&
		    (unified || controller >= 0))
			return true;
	}
	return false;
}

/*
 * Parse a line of mountinfo. If the line is the mount of a cgroup hierarchy that no earlier line
 * has, add the hierarchy. Return 0, also for other lines, or -ENOMEM.
 */
static int take_mount(struct cgroups *c, char *line)
{
	char *field[5], *at = line, *type, *options;
	struct hierarchy h = {.controller = -1};
	char *separator = strstr(line, " - ");
	size_t i;

	/*
	 * mountinfo: NUMBER PARENT DEVICE ROOT MOUNT OPTIONS [OPTIONAL ...] - TYPE SOURCE OPTIONS
	 */
	for (i = 0; separator && i < 5; i++)
		field[i] = strsep(&at, " ");
	if (!separator || !at || at > separator + 1)
		return 0;
	at = separator + 3;
	type = strsep(&at, " ");
	(void)strsep(&at, " ");
	options = at;
	h.unified = !strcmp(type, "cgroup2");
	if (!options || (!h.unified && strcmp(type, "cgroup")))
		return 0;
	if (!h.unified)
		h.controller = first_controller(options);
	if (has_hierarchy(c, h.unified, h.controller))
		return 0;
	procfs_unescape(field[3]);
	procfs_unescape(field[4]);
	h.root = strdup(strcmp(field[3], "/") ? field[3] : "");
	h.mount = strdup(field[4]);
	if (h.root && h.mount && !vector_push(&c->all, h))
		return 0;
	free(h.root);
	free(h.mount);
	return -ENOMEM;
}

static void choose_hierarchy(struct cgroups *c)
{
	const struct hierarchy *unified = NULL;
	size_t i;

	for (i = 0; i < c->all.count && !c->chosen; i++) {
		const struct hierarchy *h = &c->all.items[i];

		if (h->unified)
			unified = h;
		else if (h->controller >= 0 && h->controller < CHOOSABLE)
			c->chosen = h;
	}
	if (!c->chosen)
		c->chosen = unified;
}

static int read_mounts(struct cgroups *c, const char *mountinfo, struct error *err)
{
	struct procfs_lines lines;
	int fd = open(mountinfo, O_RDONLY | O_CLOEXEC), ret = 0;
	char *line;

	if (fd < 0)
		return error_errno(err, -errno, "cannot read %s", mountinfo);
	procfs_lines_init(&lines, fd);
	while (!ret && (line = procfs_line(&lines)))
		ret = take_mount(c, line);
	ret = ret ? ret : lines.error;
	close(fd);
	return ret ? error_errno(err, ret, "cannot read %s", mountinfo) : 0;
}

int cgroups_new(struct cgroups **out, const char *mountinfo, struct error *err)
{
	struct cgroups *c = calloc(1, sizeof(*c));
	struct stat st;
	int ret;

	if (!c)
		return error_errno(err, -ENOMEM, "cannot read %s", mountinfo);
	c->mount = -1;
	c->namespaced = !stat("/proc/self/ns/cgroup", &st) && st.st_ino != INITIAL_NAMESPACE;
	ret = read_mounts(c, mountinfo, err);
	if (ret < 0)
		goto end;
	choose_hierarchy(c);
	*out = c;
	c = NULL;
end:
	cgroups_free(c);
	return ret;
}

void cgroups_free(struct cgroups *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->all.count; i++) {
		free(c->all.items[i].root);
		free(c->all.items[i].mount);
	}
	for (i = 0; i < KNOWN_PATHS; i++)
		free(c->known[i].path);
	vector_free(&c->all);
	if (c->mount >= 0)
		close(c->mount);
	free(c);
}

static const char *subsystem_of(const struct hierarchy *h)
{
	return h->unified || h->controller < 0 ? NULL : controllers[h->controller].subsystem;
}

const char *cgroups_subsystem(const struct cgroups *c)
{
	return c->chosen ? subsystem_of(c->chosen) : NULL;
}

const char *cgroups_mount(const struct cgroups *c)
{
	return c->chosen ? c->chosen->mount : "";
}

/* The functions below find a cgroup by its name. */

/*
 * Return the part of path after directory: "" for directory itself, NULL if path is not below it.
 */
static const char *path_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	if (strncmp(path, directory, n) || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

static uint32_t path_depth(const char *path)
{
	uint32_t n = 0;

	for (; *path; path++)
		n += path[0] == '/' && path[1] && path[1] != '/';
	return n;
}

static uint32_t cgroup_level(const struct cgroups *c, const struct hierarchy *h,
			     const char *relative)
{
	struct stat top;

	if (!c->namespaced)
		return path_depth(h->root) + path_depth(relative);
	/*
	 * The root directory of every hierarchy has inode number 1. If the root is mounted, all
	 * levels can be seen.
	 */
	if (stat(h->mount, &top) < 0 || top.st_ino != 1)
		return CGROUP_LEVEL_UNKNOWN;
	return path_depth(relative);
}

/* Return whether path is the directory of a cgroup of h. */
static bool is_cgroup(const struct hierarchy *h, const char *path, struct stat *st)
{
	struct statfs fs;

	return !stat(path, st) && S_ISDIR(st->st_mode) && !statfs(path, &fs) &&
	       fs.f_type == (h->unified ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC);
}

/*
 * Find the directory path below the mount point of h. Return 0, -ENOENT if path is not a cgroup of
 * h, or -EOPNOTSUPP if BPF programs cannot see h.
 */
static int find_cgroup_at(const struct cgroups *c, const struct hierarchy *h, const char *path,
			  struct cgroup_place *out)
{
	char *real = realpath(path, NULL);
	const char *relative = real ? path_below(real, h->mount) : NULL;
	struct stat st;
	int ret = -ENOENT;

	if (relative && is_cgroup(h, real, &st)) {
		out->subsystem = subsystem_of(h);
		out->id = st.st_ino;
		out->level = cgroup_level(c, h, relative);
		ret = h->unified || out->subsystem ? 0 : -EOPNOTSUPP;
	}
	free(real);
	return ret;
}

/*
 * Find the cgroup whose path in h, as /proc/PID/cgroup shows it, is name. Return 0 or the errors of
 * cgroups_find().
 */
static int find_cgroup_in(const struct cgroups *c, const struct hierarchy *h, const char *name,
			  struct cgroup_place *out)
{
	const char *relative = name;
	char path[PATH_MAX];
	int n;

	if (h->root[0] && name[0] == '/')
		relative = path_below(name, h->root);
	if (!relative)
		return -ENOENT;
	n = snprintf(path, sizeof(path), "%s/%s", h->mount, relative);
	return n < (int)sizeof(path) ? find_cgroup_at(c, h, path, out) : -ENAMETOOLONG;
}

/*
 * Search all hierarchies. For an absolute path, the search of mount points continues after
 * -EOPNOTSUPP (a hierarchy that BPF programs cannot see), since the path may also be a cgroup of
 * another hierarchy.
 */
static int find_in_hierarchies(const struct cgroups *c, const char *name, struct cgroup_place *out)
{
	int ret = -ENOENT, found;
	size_t i;

	for (i = 0; ret && name[0] == '/' && i < c->all.count; i++) {
		found = find_cgroup_at(c, &c->all.items[i], name, out);
		ret = found == -ENOENT ? ret : found;
	}
	if (ret == -ENOENT && c->chosen)
		ret = find_cgroup_in(c, c->chosen, name, out);
	for (i = 0; ret == -ENOENT && i < c->all.count; i++)
		ret = find_cgroup_in(c, &c->all.items[i], name, out);
	return ret;
}

int cgroups_find(struct cgroups *c, const char *name, struct cgroup_place *out, struct error *err)
{
	struct cgroup_place place;
	int ret = name[0] ? find_in_hierarchies(c, name, &place) : -ENOENT;

	if (!ret)
		*out = place;
	else if (!c->chosen)
		error_set(err, ret, "no cgroup '%s': no cgroup file system is mounted", name);
	else if (ret == -EOPNOTSUPP)
		error_set(err, ret,
			  "cgroup '%s' is in a hierarchy without a controller: name one below %s",
			  name, c->chosen->mount);
	else
		error_set(err, ret, "no cgroup '%s': neither a cgroup's directory nor one below %s",
			  name, c->chosen->mount);
	return ret;
}

/* The functions below find the path of a cgroup by its id. */

static void cache_cgroup_path(struct cgroups *c, uint64_t id, char *path)
{
	struct cached_path *k = &c->known[id % KNOWN_PATHS];

	free(k->path);
	*k = (struct cached_path){id, path};
}

/*
 * Get the path of a cgroup id in the chosen hierarchy from the kernel (open_by_handle_at(2), which
 * needs CAP_DAC_READ_SEARCH). Return 0 or a negative errno.
 */
static int path_by_handle(const struct cgroups *c, uint64_t id, char *buf, size_t size)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} u = {.handle = {.handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS}};
	char self[32], path[PATH_MAX];
	const char *relative;
	ssize_t n;
	int fd;

	memcpy(u.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(c->mount, &u.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, path, sizeof(path) - 1);
	close(fd);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	path[procfs_without_deleted(path)] = '\0';
	relative = path_below(path, c->chosen->mount);
	/*
	 * For a cgroup outside the mounted subtree, the kernel shows the path from the hierarchy's
	 * root, without the mount point.
	 */
	if (relative)
		snprintf(buf, size, "%s%s", c->chosen->root, relative);
	else
		snprintf(buf, size, "%s", path);
	return 0;
}

/*
 * Return whether open_by_handle_at(2) can be tried. A unit's filter may end its caller, which is
 * tested once, when the first path is needed.
 */
static bool may_use_handles(struct cgroups *c)
{
	if (!c->tested)
		c->no_handles = here_killed_by(SYS_open_by_handle_at);
	c->tested = true;
	return !c->no_handles;
}

/* State of the search for a cgroup id in all directories, which needs no privilege. */
struct cgroup_search {
	uint64_t id;
	unsigned int left, levels; /* directories that may still be looked at; current depth */
	char path[PATH_MAX];
	size_t length;
};

static bool search_cgroup_directory(struct cgroup_search *w, int fd)
{
	DIR *dir = fdopendir(fd);
	size_t length = w->length;
	struct dirent *entry;
	bool found = false;

	if (!dir) {
		close(fd);
		return false;
	}
	w->levels++;
	while (!found && w->left && w->levels < CGROUP_SEARCH_DEPTH && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    length + strlen(entry->d_name) + 2 > sizeof(w->path))
			continue;
		w->left--;
		w->length = length + (size_t)sprintf(w->path + length, "/%s", entry->d_name);
		found = entry->d_ino == w->id;
		if (!found) {
			fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			found = fd >= 0 && search_cgroup_directory(w, fd);
		}
	}
	w->levels--;
	closedir(dir);
	return found;
}

static int path_by_search(const struct cgroups *c, uint64_t id, char *buf, size_t size)
{
	struct cgroup_search w = {.id = id, .left = CGROUP_SEARCH_MAX};
	struct stat st;
	int fd = openat(c->mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_ino == id)
		close(fd);
	else if (!search_cgroup_directory(&w, fd))
		return -ENOENT;
	snprintf(buf, size, "%s%s", c->chosen->root, w.path);
	return 0;
}

const char *cgroups_path(struct cgroups *c, uint64_t id)
{
	const struct cached_path *k = &c->known[id % KNOWN_PATHS];
	char path[PATH_MAX + PATH_MAX];
	int result;

	if (!c->chosen || !id)
		return "";
	if (k->id == id)
		return k->path ? k->path : "";
	if (c->mount < 0)
		c->mount = open(c->chosen->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->mount < 0)
		return "";
	result = may_use_handles(c) ? path_by_handle(c, id, path, sizeof(path)) : -EPERM;
	/* -ESTALE: no such cgroup exists. After other errors it may exist, so search for it. */
	if (result < 0 && result != -ESTALE)
		result = path_by_search(c, id, path, sizeof(path));
	cache_cgroup_path(c, id, result < 0 ? NULL : strdup(path[0] ? path : "/"));
	return k->path ? k->path : "";
}

bool cgroups_exists(const struct cgroups *c, const char *path, uint64_t id)
{
	const char *relative = c->chosen ? path_below(path, c->chosen->root) : NULL;
	char full[PATH_MAX];
	struct stat st;

	if (!relative ||
	    snprintf(full, sizeof(full), "%s%s", c->chosen->mount, relative) >= (int)sizeof(full))
		return false;
	return !stat(full, &st) && st.st_ino == id;
}
