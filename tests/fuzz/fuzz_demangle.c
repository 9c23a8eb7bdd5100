// SPDX-License-Identifier: Apache-2.0
/* Demangle names of C++ and Rust, as a symbol table may hold them. */
#include <string.h>

#include "fuzz.h"
#include "symbolizers/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = strndup((const char *)data, size), buf[256], cut[16];
	struct demangler *d = demangler_new();
	const char *again;

	if (!name || !d)
		abort();
	if (demangle(d, name, buf, sizeof(buf)) > 0) {
		if (strnlen(buf, sizeof(buf)) == sizeof(buf))
			abort();
		if (demangle(d, name, cut, sizeof(cut)) > 0 &&
		    strnlen(cut, sizeof(cut)) == sizeof(cut))
			abort();
		again = demangler_get(d, name);
		/* With more room, the result is the same, unless it may have been cut. */
		if (!again && demangler_refused(d))
			goto out; /* about as slow as a name may be */
		if (!again || (strlen(buf) < sizeof(buf) / 2 && strcmp(again, buf) != 0))
			abort();
	}
out:
	demangler_free(d);
	free(name);
	return 0;
}
