// SPDX-License-Identifier: Apache-2.0
/* Facts about a moment of a lane, as the page shows them: pairs of a name and a value. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/view.h"

void view_write_fact(struct json *j, const char *name, const char *value)
{
	json_array(j);
	json_text(j, name);
	json_text(j, value);
	json_array_end(j);
}

void view_write_fact_time(struct json *j, const char *name, uint64_t ns)
{
	char text[48];

	snprintf(text, sizeof(text), "%.6f s", (double)ns / 1e9);
	view_write_fact(j, name, text);
}
