// SPDX-License-Identifier: Apache-2.0
/* Recognises the files of language runtimes. */
#include "base/runtimes.h"

#include <string.h>

#define RUNTIME_ROW(NAME, name, pointers, interprets, names) \
	[RUNTIME_##NAME] = {name, pointers, interprets, names, "functions without names: " names},
const struct runtime runtime_table[RUNTIME_COUNT] = {RUNTIMES(RUNTIME_ROW)};
#undef RUNTIME_ROW

/*
 * Names of files without their folders. Only a version may follow the name of a program: "node" is
 * also "node18", but not "node_exporter". Any text may follow the name of a library.
 */
static const struct runtime_file_name {
	const char *begin;
	enum runtime_kind kind;
	bool program;
} file_names[] = {
	{"python", RUNTIME_PYTHON, false},   {"libpython", RUNTIME_PYTHON, false},
	{"node", RUNTIME_NODE, true},	     {"nodejs", RUNTIME_NODE, true},
	{"libnode.so", RUNTIME_NODE, false}, {"libjvm.so", RUNTIME_JAVA, false},
	{"dotnet", RUNTIME_DOTNET, true},    {"libcoreclr.so", RUNTIME_DOTNET, false},
	{"beam.smp", RUNTIME_ERLANG, true},  {"beam.debug.smp", RUNTIME_ERLANG, true},
	{"ruby", RUNTIME_RUBY, true},	     {"libruby", RUNTIME_RUBY, false},
	{"php", RUNTIME_PHP, true},	     {"php-fpm", RUNTIME_PHP, true},
	{"php-cgi", RUNTIME_PHP, true},	     {"libphp", RUNTIME_PHP, false},
	{"pypy", RUNTIME_PYPY, true},	     {"libpypy", RUNTIME_PYPY, false},
};

/* Return whether the rest of a file's name is only a version, and perhaps that it was deleted. */
static bool is_version(const char *rest)
{
	rest += strspn(rest, "0123456789.-");
	return !*rest || !strcmp(rest, " (deleted)");
}

enum runtime_kind runtime_of_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(file_names) / sizeof(file_names[0]); i++) {
		const struct runtime_file_name *f = &file_names[i];
		size_t size = strlen(f->begin);

		if (!strncmp(name, f->begin, size) && (!f->program || is_version(name + size)))
			return f->kind;
	}
	return RUNTIME_COUNT;
}
