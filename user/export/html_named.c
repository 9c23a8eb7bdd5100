// SPDX-License-Identifier: Apache-2.0
/* Write how much of the self time is named (analyze/named.h). */
#include "export/html_named.h"

#include "analyze/named.h"

#define NAMELESS_MAX 10 /* most modules without names written, per event */

int html_put_named(struct json *j, const struct profile *p, uint32_t event)
{
	struct named_share share;
	int ret = named_share_of(&share, p, event);

	json_key_uint(j, "self", share.self);
	json_key_uint(j, "named", share.named);
	json_key(j, "nameless");
	json_array(j);
	for (size_t i = 0; i < share.modules.count && i < NAMELESS_MAX; i++) {
		json_text(j, share.modules.items[i].build_id);
		json_text(j, module_short_name(share.modules.items[i].path));
		json_uint(j, share.modules.items[i].weight);
	}
	json_array_end(j);
	if (named_share_is_low(&share))
		json_key_text(j, "advice", NAMED_ADVICE);
	named_share_free(&share);
	return ret;
}
