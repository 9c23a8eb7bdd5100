/* SPDX-License-Identifier: Apache-2.0 */
/* Find the package that a file of this machine belongs to, and that of its debug file. */
#ifndef SKEIN_CMD_PACKAGE_H
#define SKEIN_CMD_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write the command that installs the debug file of the file at path, such as "apt install
 * xz-utils-dbgsym", from dpkg's lists of files; where rpm is used, a command that asks rpm. Return
 * false if no package has the file or the path could mean something to a shell.
 */
bool package_debug_command(const char *path, char *buf, size_t size);

/* Return whether the debug file of a build-id, in hexadecimal digits, is installed. */
bool package_has_debug_file(const char *build_id);

/* Return whether a trace was recorded on this machine, by the id of its host. */
bool package_is_here(const char *machine_id);

#endif
