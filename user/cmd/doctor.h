/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor has found, gathered before it is shown. */
#ifndef SKEIN_CMD_DOCTOR_H
#define SKEIN_CMD_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vector.h"
#include "capture/checkup.h"
#include "cmd/table.h"

/* A runtime_found that owns its texts. */
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

/* Whether everything works that a recording needs. */
bool diagnosis_healthy(const struct diagnosis *d);

/* Each writes everything; verbose: also how it was tried. 0 or a negative errno. */
int doctor_text(const struct diagnosis *d, const struct screen *s, bool verbose);
int doctor_json(const struct diagnosis *d, FILE *out);
/* The table of needs, as docs/privileges.md holds it. */
void doctor_table(FILE *out);

#endif
