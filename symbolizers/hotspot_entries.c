// SPDX-License-Identifier: Apache-2.0
/* Fill structs of offsets from HotSpot's tables. */
#include <errno.h>
#include <string.h>

#include "symbolizers/hotspot_layout.h"

#define SUPERCLASSES_MAX 16

int hotspot_class_field(const struct hotspot_tables *t, const char *type, const char *field,
			uint64_t *offset, unsigned int *bytes)
{
	for (int i = 0; *type && i < SUPERCLASSES_MAX; i++) {
		if (hotspot_field(t, type, field, offset) == 0) {
			if (bytes)
				*bytes = hotspot_field_bytes(t, type, field);
			return 0;
		}
		type = hotspot_superclass(t, type);
	}
	return -ENOENT;
}

static int find_wanted(uint64_t *out, const struct hotspot_tables *t,
		       const struct hotspot_wanted *w)
{
	int ret;

	if (!w->field)
		return hotspot_type_size(t, w->type, out);
	ret = hotspot_class_field(t, w->type, w->field, out, NULL);
	if (ret && w->other_field)
		ret = hotspot_class_field(t, w->type, w->other_field, out, NULL);
	return ret;
}

int hotspot_fill(void *to, const struct hotspot_tables *t, const struct hotspot_wanted *wanted,
		 size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct hotspot_wanted *w = &wanted[i];
		const char *field = w->field ? w->field : "the size";
		uint64_t value = HOTSPOT_ABSENT;
		uint16_t offset;
		int ret = find_wanted(&value, t, w);

		if (ret && !w->optional)
			return error_set(err, ret, "HotSpot's tables lack %s of %s", field,
					 w->type);
		if (!ret && value >= HOTSPOT_ABSENT)
			return error_set(err, -EINVAL, "HotSpot's tables are invalid: %s of %s",
					 field, w->type);
		offset = (uint16_t)value;
		memcpy((char *)to + w->to, &offset, sizeof(offset));
	}
	return 0;
}
