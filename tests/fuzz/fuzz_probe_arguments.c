// SPDX-License-Identifier: Apache-2.0
/* Parse the arguments of a note, of x86-64 and of arm64. */
#include <elf.h>
#include <string.h>

#include "fuzz.h"
#include "symbolizers/probe_arguments.h"

static bool find_symbol(void *context, const char *name, uint64_t *address)
{
	(void)context;
	*address = (uint64_t)name[0] << 56;
	return name[0] != 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_arguments_context c = {
		.machine = EM_X86_64, .address = 1, .symbol = find_symbol};
	struct probe_operand out[PROBE_OPERANDS_MAX];
	char *text = strndup((const char *)data, size);

	for (int arm = 0; arm < 2; arm++) {
		unsigned int count;

		c.machine = arm ? EM_AARCH64 : EM_X86_64;
		count = probe_arguments_parse(out, text, &c);
		if (count > PROBE_OPERANDS_MAX)
			abort();
		for (unsigned int i = 0; i < count; i++)
			if (out[i].kind >= PROBE_OPERAND_KINDS || !out[i].bytes || out[i].bytes > 8)
				abort();
	}
	free(text);
	return 0;
}
