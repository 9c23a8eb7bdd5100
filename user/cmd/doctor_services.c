// SPDX-License-Identifier: Apache-2.0
/* Write the built-in rules that name services, in the language of their files. */
#include <string.h>

#include "capture/service.h"
#include "cmd/doctor.h"

void doctor_services(FILE *out)
{
	const char *manager = "";

	fputs("# Pattern and name of a service. The pattern is for the last directories of a\n"
	      "# control group; the first rule that fits the innermost directory counts.\n",
	      out);
	for (size_t i = 0; service_builtin_rule(i).pattern; i++) {
		const struct service_rule r = service_builtin_rule(i);

		if (strcmp(r.manager, manager))
			fprintf(out, "\n# %s\n", r.manager);
		manager = r.manager;
		fprintf(out, "%-44s %s\n", r.pattern, r.name);
	}
}
