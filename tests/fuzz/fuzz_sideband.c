// SPDX-License-Identifier: Apache-2.0
/* Decode the kernel's records about processes: the processes choose the names in them. */
#include <string.h>

#include "capture/life.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_header *record;
	struct life_record l;
	size_t length = 0;

	if (size < sizeof(*record) || size > UINT16_MAX)
		return 0;
	record = malloc(size); /* separate: reads beyond its end are seen */
	if (!record)
		abort();
	memcpy(record, data, size);
	record->size = (uint16_t)size;
	if (life_decode(&l, record, (uint32_t)size) == 0 && l.kind != LIFE_OTHER && l.text)
		length = strlen(l.text);
	free(record);
	return length > size ? -1 : 0;
}
