// SPDX-License-Identifier: Apache-2.0
/* Read kallsyms. The kernel is trusted, but names of modules and BPF programs in it are not. */
#include "fuzz.h"
#include "symbolizers/demangle.h"
#include "symbolizers/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object_facts facts = {0};
	int fd = fuzz_file(data, size);
	struct demangler *d = demangler_new();
	struct kernel k = {0};
	struct found_symbol f;

	(void)kernel_add(&k, 0xffffffffc0000000, 64, "added", 5);
	(void)kernel_read(&k, fd, &facts, NULL);
	for (size_t i = 0; i < k.symbols.spans.count; i++) {
		if (!kernel_find(&k, k.symbols.spans.items[i].start, &f))
			abort();
		(void)demangler_get(d, f.name);
	}
	demangler_free(d);
	kernel_free(&k);
	close(fd);
	return 0;
}
