// SPDX-License-Identifier: Apache-2.0
/*
 * Linked into the static program only (make static). SQLite contains code that loads extensions,
 * which skein never lets it do. In a static program this code would need the shared libraries of
 * the very glibc that it was linked with, so it finds these functions instead, which refuse. The
 * linker's option --wrap replaces dlopen() by __wrap_dlopen(), and so on.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlsym(void *handle, const char *name);
int __wrap_dlclose(void *handle);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

void *__wrap_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

int __wrap_dlclose(void *handle)
{
	(void)handle;
	return -1;
}

char *__wrap_dlerror(void)
{
	static char text[] = "a static program loads no libraries";

	return text;
}
