// SPDX-License-Identifier: Apache-2.0
/*
 * Loads two shared objects in turn, runs a function of each and closes them again: each is usually
 * mapped where the other was.
 *
 *   plugins SECONDS-OF-CPU ROUNDS FIRST SECOND
 */
#include <dlfcn.h>

#include "shape.h"

OWN int with_first(const char *path, uint64_t ns);
OWN int with_second(const char *path, uint64_t ns);

static __attribute__((always_inline)) inline int with(const char *path, uint64_t ns)
{
	void *object = dlopen(path, RTLD_NOW);
	void (*run)(uint64_t ns);

	if (!object)
		return fprintf(stderr, "%s\n", dlerror()), 1;
	*(void **)&run = dlsym(object, "plugin_run");
	run(ns);
	return dlclose(object);
}

OWN int with_first(const char *path, uint64_t ns)
{
	shape_after++;
	return with(path, ns);
}

OWN int with_second(const char *path, uint64_t ns)
{
	shape_after--;
	return with(path, ns);
}

int main(int argc, char **argv)
{
	int rounds, status = 0;

	if (argc < 5)
		return 2;
	rounds = atoi(argv[2]);
	for (int i = 0; i < rounds && !status; i++)
		status = i % 2 ? with_second(argv[4], shape_ns(argc, argv) / rounds)
			       : with_first(argv[3], shape_ns(argc, argv) / rounds);
	return status;
}
