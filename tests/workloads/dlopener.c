// SPDX-License-Identifier: Apache-2.0
/*
 * Loads shared objects late, one after the other, and runs each: the second is usually mapped where
 * the first was. Prints the address of each.
 *
 *   dlopener SECONDS-OF-CPU FILE...
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

BURNER(before_dlopen)

static int run(const char *path, uint64_t ns)
{
	void *object = dlopen(path, RTLD_NOW);
	void (*entry)(uint64_t ns);

	if (!object)
		return fprintf(stderr, "%s\n", dlerror()), 1;
	*(void **)&entry = dlsym(object, "plugin_run");
	if (!entry)
		return 1;
	entry(ns);
	printf("%p %s\n", *(void **)&entry, path);
	return dlclose(object);
}

int main(int argc, char **argv)
{
	uint64_t ns = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 1000 * MS;
	int status = 0;

	before_dlopen(ns);
	for (int i = 2; i < argc && !status; i++)
		status = run(argv[i], ns);
	return status;
}
