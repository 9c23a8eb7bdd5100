/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of skein doctor, gathered before they are shown. */
#ifndef SKEIN_CMD_DOCTOR_H
#define SKEIN_CMD_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vector.h"
#include "capture/checkup.h"
#include "cmd/table.h"

/* A copy of struct runtime_found that owns its texts. */
struct doctor_runtime {
	char *name, *path;
	uint64_t processes;
	const char *support;
	bool readable, tested;
};

struct diagnosis {
	enum setting setting;
	struct finding findings[CHECK_COUNT];
	VECTOR(struct doctor_runtime) runtimes;
};

/* Return whether everything that a recording needs works. */
bool doctor_is_healthy(const struct diagnosis *d);

/* Write all findings; verbose adds how each was tested. Return 0 or a negative errno. */
int doctor_text(const struct diagnosis *d, const struct screen *s, bool verbose);
int doctor_json(const struct diagnosis *d, FILE *out);
/* Write the table of needs that docs/privileges.md contains. */
void doctor_table(FILE *out);

#endif
