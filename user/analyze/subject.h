/* SPDX-License-Identifier: Apache-2.0 */
/* Name what a recording is of, for titles. */
#ifndef SKEIN_ANALYZE_SUBJECT_H
#define SKEIN_ANALYZE_SUBJECT_H

#include "analyze/profile.h"

#define SUBJECT_SIZE 256

/* Keys of the info records about the command that was recorded. */
#define INFO_COMMAND "command.program" /* name of its file */
#define INFO_ARGUMENTS "command.arguments" /* number of them */
#define INFO_COMMAND_LINE "command.line" /* all of it, only with record --store-arguments */

/*
 * Write what was selected for the recording: "make (3 arguments)", "nginx (pid 4711)", "threads
 * 'java*'", a control group; "" if everything was, or for several hosts. The text has names of
 * programs as they are, which must be cleaned or escaped. Return buf.
 */
char *profile_subject(const struct profile *p, char buf[static SUBJECT_SIZE]);

#endif
