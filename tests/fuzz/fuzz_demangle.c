// SPDX-License-Identifier: Apache-2.0
/* Demangle names of C++ and Rust, as a symbol table may hold them. */
#include <string.h>

#include "fuzz.h"
#include "symbolizers/demangle.h"
#include "symbolizers/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = strndup((const char *)data, size), first[REPLY_NAME_MAX + 1], cut[16];
	struct demangler *d = demangler_new();
	const char *demangled;

	if (!name || !d)
		abort();
	demangled = demangler_get(d, name);
	if (demangled) {
		if (strlen(demangled) > REPLY_NAME_MAX ||
		    demangle_copy_cut(demangled, cut, sizeof(cut)) >= sizeof(cut))
			abort();
		strcpy(first, demangled);
		demangled = demangler_get(d, name);
		/* refused: about as slow as a name may be */
		if (demangled ? strcmp(demangled, first) != 0 : !demangler_refused(d))
			abort();
	}
	demangler_free(d);
	free(name);
	return 0;
}
