// SPDX-License-Identifier: Apache-2.0
/*
 * Follow code that a JVM is said to have generated. The input is a byte that chooses what kind of
 * code it is, one for the size of its frame, one for the end of its prologue, then the code.
 */
#include <errno.h>

#include "fuzz.h"
#include "symbolizers/unwind/code_flow.h"
#include "symbolizers/unwind/hotspot_paths.h"
#include "symbolizers/unwind/table.h"

#define SIZE_FUZZED_MAX 65536

static void fuzz_rows(const struct hotspot_once_code *code)
{
	struct hotspot_paths_rows rows = {0};

	if (hotspot_paths_append(&rows, code) == -EINVAL)
		abort();
	for (size_t n = 0; n < rows.items.count; n++) {
		const struct hotspot_row *r = &rows.items.items[n];

		if (r->state >= HOTSPOT_STATES || (n && r->offset <= r[-1].offset) ||
		    (r->state == HOTSPOT_RETURN_IN_REGISTER &&
		     r->return_register >= UNWIND_REGISTERS))
			abort();
	}
	vector_free(&rows.items);
}

static void fuzz_table(const struct hotspot_once_code *code)
{
	struct unwind_table table;
	struct unwind_rows rows;
	size_t size;
	void *bytes;

	if (unwind_rows_init(&rows))
		abort();
	(void)hotspot_paths_add(&rows, code);
	if (unwind_rows_finish(&rows, &bytes, &size) == 0) {
		if (unwind_table_check(&table, bytes, size))
			abort();
		free(bytes);
	}
	unwind_rows_free(&rows);
}

static void fuzz_compiled(const struct hotspot_compiled *m)
{
	struct hotspot_code_rows rows;
	struct code_flow f;

	if (code_flow_init(&f, m->code, m->size))
		abort();
	(void)hotspot_compiled_follow(&f, m);
	for (size_t at = 0; at < m->size; at++) {
		const struct code_state *s = code_flow_state(&f, at);

		if (s)
			(void)code_state_rule(s);
	}
	code_flow_free(&f);
	if (hotspot_compiled_rows(&rows, m, (uint32_t)m->size / 2))
		return;
	if (!rows.count || rows.count > HOTSPOT_CODE_ROWS_MAX || rows.end > m->size ||
	    rows.rows[0].offset > m->size / 2 || rows.end <= m->size / 2)
		abort();
	for (uint32_t n = 0; n < rows.count; n++)
		if (rows.rows[n].offset >=
		    (n + 1 < rows.count ? rows.rows[n + 1].offset : rows.end))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4 || size > SIZE_FUZZED_MAX)
		return 0;
	const struct hotspot_once_code code = {
		.bytes = data + 3,
		.size = size - 3,
		.offset = data[1] * 64ull,
		.kind = (enum hotspot_once_kind)(data[0] % (HOTSPOT_ONCE_UNPACKING + 1)),
	};

	if (data[0] & 0x80)
		fuzz_compiled(&(struct hotspot_compiled){
			.code = data + 3,
			.size = size - 3,
			.kind = (enum hotspot_compiled_kind)(data[0] % 3),
			.frame_words = data[1],
			.complete = data[2],
			.entry = data[0] & 0x40 ? data[2] * 2u : 0,
		});
	else if (code.kind >= HOTSPOT_ONCE_CODELET)
		fuzz_rows(&code);
	else
		fuzz_table(&code);
	return 0;
}
