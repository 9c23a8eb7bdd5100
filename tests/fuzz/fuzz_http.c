// SPDX-License-Identifier: Apache-2.0
/* A target, a number, a Host and a header of an HTTP request, all from the same text. */
#include <string.h>

#include "fuzz.h"
#include "http/check.h"
#include "http/server.h"
#include "http/target.h"

static void check_target(const char *text)
{
	struct http_target t;

	if (http_target_parse(&t, text))
		return;
	if (t.text[0] != '/' || t.count > HTTP_PARAMETERS_MAX)
		abort();
	for (unsigned int i = 0; i < t.count; i++) {
		const char *value = t.parameters[i].value;
		uint64_t number;

		/* The first of a name is the only one. */
		if (http_target_find(&t, t.parameters[i].name) != value)
			abort();
		for (const char *c = value; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				abort();
		if (http_number_parse(value, &number) == 0 && strlen(value) > 20 && *value != '0')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char token[] = "0123456789abcdef0123456789abcdef";
	char *text = strndup((const char *)data, size), *name, *rest = text;
	const struct http_access usual = {0};
	struct http_heads heads = {0};

	if (!text)
		abort();
	check_target(text);
	/* Lines of a header: pairs of a name and a value. */
	while ((name = strsep(&rest, "\n")) && rest)
		http_heads_add(&heads, name, strsep(&rest, "\n"));
	if (!http_check_heads(&heads, false, &usual, token) &&
	    (!http_host_is_local(heads.values[HTTP_HOST]) ||
	     !http_token_equal(token, heads.values[HTTP_TOKEN])))
		abort();
	free(text);
	return 0;
}
