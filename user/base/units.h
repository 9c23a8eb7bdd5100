/* SPDX-License-Identifier: Apache-2.0 */
/* Format numbers with units for people. Each function writes at most size bytes and returns buf. */
#ifndef SKEIN_BASE_UNITS_H
#define SKEIN_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

char *show_duration(uint64_t ns, char *buf, size_t size); /* "1.25 s", "340 ms", "2 min 5 s" */
char *show_bytes(uint64_t bytes, char *buf, size_t size); /* "14.2 MiB" */
char *show_count(uint64_t count, char *buf, size_t size); /* "1,234,567" */
char *show_percent(uint64_t part, uint64_t whole, char *buf, size_t size); /* "12.3 %" */

#endif
