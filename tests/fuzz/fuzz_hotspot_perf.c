// SPDX-License-Identifier: Apache-2.0
/* Read the counters and the threads of a JVM from a memory that the input is (fuzz_jvm.h). */
#include "fuzz_jvm.h"
#include "symbolizers/hotspot_perf.h"
#include "symbolizers/hotspot_threads.h"

static int take_thread(void *context, const struct hotspot_thread *t)
{
	unsigned int *count = context;

	if (!hotspot_thread_check(t))
		abort();
	return ++*count < 4096 ? 0 : -EFBIG;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_input in = {data, size};
	const struct hotspot_memory memory = {jvm_input_read, &in};
	unsigned int count = 0;
	struct hotspot_threads threads = {.each = take_thread, .context = &count};
	struct hotspot_objects objects;
	struct hotspot_perf perf;
	struct hotspot_tables *t;
	struct error err;

	jvm_input_objects(&objects);
	if (hotspot_tables_read(&t, &objects, jvm_input_read, &in, &err))
		return 0;
	if (hotspot_perf_read(&perf, t, &memory, &err) == 0 && !hotspot_perf_check(&perf))
		abort();
	(void)hotspot_threads_read(&threads, t, &memory, &err);
	hotspot_tables_free(t);
	return 0;
}
