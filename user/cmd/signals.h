/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that a command reads between its rounds, so that they interrupt no operation. */
#ifndef SKEIN_CMD_SIGNALS_H
#define SKEIN_CMD_SIGNALS_H

#include <stddef.h>

/*
 * Block the signals of a list, and SIGHUP unless it is ignored, as under nohup(1): a signalfd
 * receives ignored signals, too. SIGPIPE is ignored from now on. Return a signalfd that does not
 * block, or a negative errno.
 */
int signals_catch(const int *list, size_t count);

#endif
