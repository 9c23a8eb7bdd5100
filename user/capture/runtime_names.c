// SPDX-License-Identifier: Apache-2.0
/* Names of spans and counters, and their arguments as JSON. */
#include "capture/runtime_state.h"

#include <errno.h>
#include <string.h>

char *runtime_text(const char *text)
{
	return text && text[0] ? strndup(text, RUNTIME_NAME_BYTES - 1) : NULL;
}

uint64_t runtime_key(const char *text)
{
	uint64_t key = cache_hash(text, strlen(text)).low;

	return key ? key : 1;
}

int runtime_name(struct runtime_events *r, const char *text, uint64_t *out, struct error *err)
{
	struct name name = {.text = text};
	struct cache_key key;
	int ret;

	*out = 0;
	if (!text || !text[0])
		return 0;
	key = cache_hash(text, strlen(text));
	if (cache_get(r->names, key, out))
		return 0;
	name.id = *r->c.last_name + 1;
	ret = put_name(r->c.sink, &name, err);
	if (ret)
		return ret;
	*r->c.last_name = name.id;
	cache_put(r->names, key, name.id);
	*out = name.id;
	return 0;
}

struct json *runtime_args_begin(struct runtime_events *r)
{
	rewind(r->args.out);
	json_begin(&r->args.json, r->args.out, false);
	json_object(&r->args.json);
	return &r->args.json;
}

char *runtime_args_end(struct runtime_events *r)
{
	json_object_end(&r->args.json);
	if (fflush(r->args.out) || ferror(r->args.out) || !r->args.text) {
		clearerr(r->args.out);
		return NULL;
	}
	return strndup(r->args.text, r->args.size);
}
