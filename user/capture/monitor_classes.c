// SPDX-License-Identifier: Apache-2.0
/* Keeps which classes of monitors have a name, and which of these names have been read. */
#include "capture/monitor_classes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

#define CLASSES_MAX 4096 /* that are kept; further ones are not known until these are forgotten */

struct class_key {
	uint64_t jvm, class;
};

struct kept_class {
	struct class_key key;
	uint64_t name; /* name.id */
	bool pending; /* its text has not come */
	UT_hash_handle hh;
};

struct monitor_classes {
	struct monitor_classes_context c;
	struct kept_class *kept; /* hash table */
	uint64_t unknown; /* name.id of MONITOR_CLASS_UNKNOWN; 0: not emitted */
};

struct monitor_classes *monitor_classes_new(const struct monitor_classes_context *c)
{
	struct monitor_classes *m = calloc(1, sizeof(*m));

	if (m)
		m->c = *c;
	return m;
}

static void forget_class(struct monitor_classes *m, struct kept_class *k)
{
	HASH_DEL(m->kept, k);
	free(k);
}

void monitor_classes_free(struct monitor_classes *m)
{
	struct kept_class *k, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->kept, k, next)
		forget_class(m, k);
	free(m);
}

static int put_class_name(struct monitor_classes *m, uint64_t id, const char *text,
			  struct error *err)
{
	const struct name name = {.id = id, .text = text};

	return put_name(m->c.sink, &name, err);
}

static int unknown_class(struct monitor_classes *m, uint64_t *name, struct error *err)
{
	int ret = 0;

	if (!m->unknown) {
		m->unknown = ++*m->c.last_name;
		ret = put_class_name(m, m->unknown, MONITOR_CLASS_UNKNOWN, err);
	}
	*name = m->unknown;
	return ret;
}

/* Add a class, and request its name. Return NULL if it will have none. */
static struct kept_class *add_class(struct monitor_classes *m, const struct class_key *key)
{
	struct kept_class *k;

	if (HASH_COUNT(m->kept) >= CLASSES_MAX)
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->key = *key;
	HASH_ADD(hh, m->kept, key, sizeof(k->key), k);
	if (!HASH_HAS(hh, k)) {
		free(k);
		return NULL;
	}
	if (m->c.request(m->c.context, key->jvm, key->class)) {
		forget_class(m, k);
		return NULL;
	}
	k->pending = true;
	k->name = ++*m->c.last_name;
	return k;
}

int monitor_classes_find(struct monitor_classes *m, uint64_t jvm, uint64_t class, uint64_t *name,
			 struct error *err)
{
	const struct class_key key = {jvm, class};
	struct kept_class *k = NULL;

	if (class)
		HASH_FIND(hh, m->kept, &key, sizeof(key), k);
	if (class && !k)
		k = add_class(m, &key);
	if (!k)
		return unknown_class(m, name, err);
	*name = k->name;
	return 0;
}

int monitor_classes_reply(struct monitor_classes *m, uint64_t jvm, uint64_t class, const char *text,
			  struct error *err)
{
	const struct class_key key = {jvm, class};
	struct kept_class *k = NULL;

	HASH_FIND(hh, m->kept, &key, sizeof(key), k);
	if (!k || !k->pending)
		return 0;
	k->pending = false;
	return put_class_name(m, k->name, text && *text ? text : MONITOR_CLASS_UNKNOWN, err);
}

void monitor_classes_forget(struct monitor_classes *m)
{
	struct kept_class *k, *next;

	m->unknown = 0;
	HASH_ITER (hh, m->kept, k, next) {
		if (!k->pending)
			forget_class(m, k);
	}
}

int monitor_classes_end(struct monitor_classes *m, struct error *err)
{
	int ret = 0;

	for (struct kept_class *k = m->kept; k && !ret; k = k->hh.next) {
		if (k->pending)
			ret = put_class_name(m, k->name, MONITOR_CLASS_UNKNOWN, err);
		k->pending = false;
	}
	return ret;
}
