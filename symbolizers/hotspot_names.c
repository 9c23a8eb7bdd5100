// SPDX-License-Identifier: Apache-2.0
/*
 * Find the methods of Java frames, and keep what was read: the next frames of a method then need no
 * memory of the process, which may have ended, or freed the method.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/hash.h"
#include "symbolizers/hotspot_names_private.h"

/* Methods and nmethods have ids of 32 bits; a blob has BLOB_ID, a class CLASS_ID(). */
struct names_key {
	uint64_t address;
	uint64_t id;
};

#define BLOB_ID UINT64_MAX
#define CLASS_ID(number) (1ULL << 32 | (number))

/* A Method, or a blob or a class, which has only a name. */
struct kept_method {
	struct names_key key;
	struct hotspot_named_method m;
	unsigned int users; /* kept_code.methods that point to it */
	bool replaced; /* another method has taken its key: it is in no hash table */
	UT_hash_handle hh;
	TAILQ_ENTRY(kept_method) use;
};

struct kept_code {
	struct names_key key;
	struct hotspot_code c;
	struct kept_method **methods; /* of c.metadata, NULL: not read yet */
	struct kept_method *own; /* of c.method; NULL: not read yet */
	UT_hash_handle hh;
	TAILQ_ENTRY(kept_code) use;
};

struct hotspot_names {
	struct hotspot_reader reader;
	struct kept_method *methods; /* hash table */
	struct kept_code *codes; /* hash table */
	TAILQ_HEAD(, kept_method) used_methods; /* least recently used first */
	TAILQ_HEAD(, kept_code) used_codes;
	size_t bytes;
};

int hotspot_names_new(struct hotspot_names **out, const struct hotspot_tables *t, struct error *err)
{
	struct hotspot_names *n = calloc(1, sizeof(*n));
	int ret = n ? 0 : -ENOMEM;

	if (!ret)
		ret = hotspot_method_fill(&n->reader.method, t, err);
	if (!ret)
		ret = hotspot_nmethod_fill(&n->reader.nmethod, t, err);
	if (ret) {
		free(n);
		return ret;
	}
	TAILQ_INIT(&n->used_methods);
	TAILQ_INIT(&n->used_codes);
	*out = n;
	return 0;
}

static size_t kept_code_bytes(const struct kept_code *k)
{
	return sizeof(*k) + hotspot_code_bytes(&k->c) + k->c.metadata_count * sizeof(*k->methods) +
	       64;
}

static size_t kept_method_bytes(const struct kept_method *k)
{
	return sizeof(*k) + hotspot_method_bytes(&k->m) + 64;
}

static void forget_method(struct hotspot_names *n, struct kept_method *k)
{
	if (!k->replaced)
		HASH_DEL(n->methods, k);
	TAILQ_REMOVE(&n->used_methods, k, use);
	n->bytes -= kept_method_bytes(k);
	hotspot_method_free(&k->m);
	free(k);
}

static void forget_code_of_names(struct hotspot_names *n, struct kept_code *k)
{
	HASH_DEL(n->codes, k);
	TAILQ_REMOVE(&n->used_codes, k, use);
	n->bytes -= kept_code_bytes(k);
	for (uint32_t i = 0; i < k->c.metadata_count; i++) {
		if (k->methods[i])
			k->methods[i]->users--;
	}
	if (k->own)
		k->own->users--;
	free(k->methods);
	hotspot_code_free(&k->c);
	free(k);
}

size_t hotspot_names_bytes(const struct hotspot_names *n)
{
	return n->bytes;
}

void hotspot_names_trim(struct hotspot_names *n, size_t limit)
{
	struct kept_method *m, *next;

	while (n->bytes > limit && TAILQ_FIRST(&n->used_codes))
		forget_code_of_names(n, TAILQ_FIRST(&n->used_codes));
	for (m = TAILQ_FIRST(&n->used_methods); m && n->bytes > limit; m = next) {
		next = TAILQ_NEXT(m, use);
		if (!m->users)
			forget_method(n, m);
	}
}

void hotspot_names_free(struct hotspot_names *n)
{
	if (n)
		hotspot_names_trim(n, 0);
	free(n);
}

static struct kept_method *find_method(struct hotspot_names *n, const struct names_key *key)
{
	struct kept_method *k;

	HASH_FIND(hh, n->methods, key, sizeof(*key), k);
	if (k) {
		TAILQ_REMOVE(&n->used_methods, k, use);
		TAILQ_INSERT_TAIL(&n->used_methods, k, use);
	}
	return k;
}

static bool is_same_method(const struct hotspot_named_method *a,
			   const struct hotspot_named_method *b)
{
	return strcmp(a->class_name, b->class_name) == 0 && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->signature, b->signature) == 0 && strcmp(a->file, b->file) == 0 &&
	       a->line_count == b->line_count &&
	       (!a->line_count ||
		memcmp(a->lines, b->lines, a->line_count * sizeof(*a->lines)) == 0);
}

/* Take a method out of the hash table, and free it unless code uses it. */
static void replace_method(struct hotspot_names *n, struct kept_method *k)
{
	if (!k->users) {
		forget_method(n, k);
		return;
	}
	HASH_DEL(n->methods, k);
	k->replaced = true;
}

/*
 * Keep a method that was read, unless the same one is kept already. A class of the same shape as an
 * unloaded one may have its methods at the same addresses and with the same ids: what was read last
 * is kept. *m is moved or freed. Return NULL without memory.
 */
static struct kept_method *keep_method(struct hotspot_names *n, const struct names_key *key,
				       struct hotspot_named_method *m)
{
	struct kept_method *k = find_method(n, key);

	if (k && is_same_method(&k->m, m)) {
		hotspot_method_free(m);
		return k;
	}
	if (k)
		replace_method(n, k);
	k = calloc(1, sizeof(*k));
	if (k) {
		k->key = *key;
		HASH_ADD(hh, n->methods, key, sizeof(k->key), k);
	}
	if (!k || !HASH_HAS(hh, k)) {
		hotspot_method_free(m);
		free(k);
		return NULL;
	}
	k->m = *m;
	TAILQ_INSERT_TAIL(&n->used_methods, k, use);
	n->bytes += kept_method_bytes(k);
	return k;
}

static struct kept_code *find_code(struct hotspot_names *n, const struct names_key *key)
{
	struct kept_code *k;

	HASH_FIND(hh, n->codes, key, sizeof(*key), k);
	if (k) {
		TAILQ_REMOVE(&n->used_codes, k, use);
		TAILQ_INSERT_TAIL(&n->used_codes, k, use);
	}
	return k;
}

/* Read the code of an nmethod and keep it. Errors as for hotspot_code_read(). */
static int read_code(struct hotspot_names *n, const struct names_key *key, struct kept_code **out)
{
	struct kept_code *k = calloc(1, sizeof(*k));
	int ret =
		k ? hotspot_code_read(&k->c, &n->reader, key->address, (uint32_t)key->id) : -ENOMEM;

	if (!ret) {
		k->methods = calloc(k->c.metadata_count + 1u, sizeof(*k->methods));
		k->key = *key;
		if (k->methods)
			HASH_ADD(hh, n->codes, key, sizeof(k->key), k);
		if (!k->methods || !HASH_HAS(hh, k)) {
			free(k->methods);
			hotspot_code_free(&k->c);
			ret = -ENOMEM;
		}
	}
	if (ret) {
		free(k);
		return ret;
	}
	TAILQ_INSERT_TAIL(&n->used_codes, k, use);
	n->bytes += kept_code_bytes(k);
	*out = k;
	return 0;
}

/* The methods of one lookup that the code does not have yet. */
struct new_methods {
	struct hotspot_named_method read[HOTSPOT_FRAMES_MAX];
	struct kept_method **to[HOTSPOT_FRAMES_MAX]; /* where they will be kept */
	unsigned int count;
	enum hotspot_integers known; /* form of the integers before */
};

/* Read a Method for a place of the code, unless it was read before. */
static int read_new_method(struct hotspot_names *n, struct new_methods *all, uint64_t address,
			   struct kept_method **to)
{
	int ret;

	if (*to)
		return 0;
	for (unsigned int i = 0; i < all->count; i++) {
		if (all->to[i] == to)
			return 0;
	}
	ret = hotspot_method_read(&all->read[all->count], &n->reader, address, NULL);
	if (!ret)
		all->to[all->count++] = to;
	return ret;
}

/*
 * Keep the methods that were read, if the nmethod was alive after that: while it is, its methods
 * are not freed.
 */
static int keep_new_methods(struct hotspot_names *n, struct new_methods *all,
			    const struct kept_code *k, int ret)
{
	if (!ret && all->count)
		ret = hotspot_code_check(&n->reader, &k->c);
	if (ret) /* freed memory shows nothing about the form of integers */
		n->reader.integers = all->known;
	for (unsigned int i = 0; i < all->count; i++) {
		const struct names_key key = {all->read[i].address, all->read[i].id};

		if (ret) {
			hotspot_method_free(&all->read[i]);
			continue;
		}
		*all->to[i] = keep_method(n, &key, &all->read[i]);
		if (*all->to[i])
			(*all->to[i])->users++;
		else
			ret = -ENOMEM;
	}
	return ret;
}

/* Return where the method of a scope is kept; of the physical method, that is k->own. */
static struct kept_method **place_of_method(struct kept_code *k, const struct hotspot_scope *s)
{
	return s->method ? &k->methods[s->method - 1] : &k->own;
}

/* Read the methods of all scopes. */
static int read_scope_methods(struct hotspot_names *n, struct kept_code *k,
			      const struct hotspot_scope *scopes, unsigned int count)
{
	struct new_methods *all = malloc(sizeof(*all));
	int ret = all ? 0 : -ENOMEM;

	if (all) {
		all->count = 0;
		all->known = n->reader.integers;
	}
	for (unsigned int i = 0; !ret && i < count; i++) {
		struct kept_method **to = place_of_method(k, &scopes[i]);

		ret = read_new_method(
			n, all, to == &k->own ? k->c.method : k->c.metadata[scopes[i].method - 1],
			to);
	}
	if (all)
		ret = keep_new_methods(n, all, k, ret);
	free(all);
	return ret;
}

static struct hotspot_frame make_frame(const struct kept_method *k, int32_t bci)
{
	const struct hotspot_named_method *m = &k->m;

	return (struct hotspot_frame){
		.class_name = m->class_name,
		.method = m->name,
		.signature = m->signature,
		.file = m->file,
		.line = hotspot_line_of(m->lines, m->line_count, bci),
		.bci = bci,
	};
}

/*
 * Without scopes, the compiled method itself is the only frame: that of the native method of a
 * wrapper, which has no other; else methods that are inlined into it are missing.
 */
static int find_compiled(struct hotspot_names *n, const struct hotspot_lookup *q,
			 struct hotspot_frame *out)
{
	const struct names_key key = {q->address, HOTSPOT_PLACE_ID(q->place)};
	struct hotspot_scope scopes[HOTSPOT_FRAMES_MAX];
	struct kept_code *k = find_code(n, &key);
	bool exact = false;
	unsigned int count;
	int ret = k ? 0 : read_code(n, &key, &k);

	if (ret)
		return ret;
	count = hotspot_code_scopes(scopes, &k->c, n->reader.integers,
				    HOTSPOT_PLACE_OFFSET_OF(q->place), &exact);
	if (!count) {
		scopes[0] = (struct hotspot_scope){.bci = -1};
		exact = k->c.pc_count == 0;
		count = 1;
	}
	ret = read_scope_methods(n, k, scopes, count);
	for (unsigned int i = 0; !ret && i < count; i++) {
		out[i] = make_frame(*place_of_method(k, &scopes[i]), scopes[i].bci);
		out[i].inlined = i + 1 < count;
		out[i].inferred = !exact;
		if (!scopes[i].method)
			out[i].line = 0;
	}
	return ret ? ret : (int)count;
}

/*
 * Read the Method even if it is kept: another one of the same shape may have taken its place (see
 * keep_method()). What is kept serves when the Method is freed, or its process has ended.
 */
static int find_interpreted(struct hotspot_names *n, const struct hotspot_lookup *q,
			    struct hotspot_frame *out)
{
	const uint32_t id = HOTSPOT_PLACE_ID(q->place), bci = HOTSPOT_PLACE_OFFSET_OF(q->place);
	const struct names_key key = {q->address, id};
	struct hotspot_named_method m;
	int ret = hotspot_method_read(&m, &n->reader, q->address, &id);
	struct kept_method *k = ret ? find_method(n, &key) : keep_method(n, &key, &m);

	if (!k)
		return ret ? ret : -ENOMEM;
	*out = make_frame(k, bci < k->m.code_size ? (int32_t)bci : -1);
	if (out->bci < 0)
		out->line = 0;
	return 1;
}

/* Keep a class, or the name of a blob, as a method that has nothing else; one of them is "". */
static int keep_name(struct hotspot_names *n, const struct names_key *key, const char *class_name,
		     const char *name, struct kept_method **out)
{
	struct hotspot_named_method m = {.address = key->address};

	m.class_name = strdup(class_name);
	m.name = strdup(name);
	m.signature = strdup("");
	m.file = strdup("");
	if (!m.name || !m.class_name || !m.signature || !m.file) {
		hotspot_method_free(&m);
		return -ENOMEM;
	}
	*out = keep_method(n, key, &m);
	return *out ? 0 : -ENOMEM;
}

static int read_stub_name(struct hotspot_names *n, const struct names_key *key,
			  struct kept_method **out)
{
	char name[HOTSPOT_NAME_MAX];
	int ret = hotspot_blob_read(name, &n->reader, key->address);

	return ret ? ret : keep_name(n, key, "", name, out);
}

static int find_blob(struct hotspot_names *n, const struct hotspot_lookup *q,
		     struct hotspot_frame *out)
{
	const struct names_key key = {q->address, BLOB_ID};
	struct kept_method *k = find_method(n, &key);
	int ret = k ? 0 : read_stub_name(n, &key, &k);

	if (ret)
		return ret;
	*out = make_frame(k, -1);
	return 1;
}

/* Without its random number, a Symbol is read each time: it must be one that is never freed. */
static int find_class(struct hotspot_names *n, const struct hotspot_lookup *q,
		      struct hotspot_frame *out)
{
	const struct names_key key = {q->address, CLASS_ID(q->place & UINT16_MAX)};
	struct kept_method *k = q->place ? find_method(n, &key) : NULL;
	char name[HOTSPOT_CLASS_MAX];
	int ret = k ? 0 : hotspot_class_read(name, &n->reader, q->address, q->place);

	if (!ret && !k)
		ret = keep_name(n, &key, name, "", &k);
	if (ret)
		return ret;
	*out = make_frame(k, -1);
	return 1;
}

int hotspot_names_find(struct hotspot_names *n, const struct hotspot_memory *memory,
		       const struct hotspot_lookup *q, struct hotspot_frame out[HOTSPOT_FRAMES_MAX])
{
	n->reader.memory = memory;
	if (q->kind == HOTSPOT_FRAME_COMPILED)
		return find_compiled(n, q, out);
	if (q->kind == HOTSPOT_FRAME_INTERPRETED)
		return find_interpreted(n, q, out);
	if (q->kind == HOTSPOT_FRAME_CLASS)
		return find_class(n, q, out);
	return q->kind == HOTSPOT_FRAME_BLOB ? find_blob(n, q, out) : -EBADMSG;
}
