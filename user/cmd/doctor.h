/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of skein doctor, gathered before they are shown. */
#ifndef SKEIN_CMD_DOCTOR_H
#define SKEIN_CMD_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vector.h"
#include "capture/checkup.h"
#include "cmd/table.h"

/* A copy of a struct runtime_found with allocated texts. */
struct doctor_runtime {
	char *name, *path, *support;
	uint64_t processes;
	bool readable, tested;
};

struct diagnosis {
	enum setting setting;
	struct finding findings[CHECK_COUNT];
	VECTOR(struct doctor_runtime) runtimes;
};

/* Return whether no check that a recording requires has failed. */
bool doctor_is_healthy(const struct diagnosis *d);

/* Write all findings; verbose adds how each was tested. Return 0 or a negative errno. */
int doctor_text(const struct diagnosis *d, const struct screen *s, bool verbose);
int doctor_json(const struct diagnosis *d, FILE *out);
/* Write the tables of needs that docs/privileges.md contains, as Markdown. */
void doctor_table(FILE *out);
/* Write the built-in rules that name services, as a file for --service-rules. */
void doctor_services(FILE *out);

#endif
