// SPDX-License-Identifier: Apache-2.0
/*
 * Builds the walker of bpf/unwind for user space, where it walks the part of a stack that was
 * copied into a sample.
 */
#include "capture/finish.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bpf/unwind/state.h"
#include "capture/clock.h"

/* A copy of at most this many bytes is not cut off: the thread's stack ends there. */
#define FULL_COPY (WIRE_STACK_BYTES - 4096)

/*
 * State for walk_read() and the other functions that the walker calls. In memory, the walker's
 * struct native_walk directly follows this struct (struct replayed), so replay_of() finds the state
 * from the walk.
 */
struct replay {
	const struct finish_world *world;
	const struct unfinished_stack *from;
	uint32_t slot; /* last slot looked up */
	/* the walk tried to read a word of the stack beyond a copy that was cut off */
	bool past_copy;
	uint8_t kind; /* kind of the last rule looked up */
};

static inline struct replay *replay_of(const struct native_walk *w)
{
	return (struct replay *)((char *)w - sizeof(struct replay));
}

/* Set the bits of the words that a read of so many bytes touches. offset: offset in the copy. */
static void mark_read(uint64_t *read, uint64_t offset, uint32_t bytes)
{
	for (uint64_t word = offset / 8; word <= (offset + bytes - 1) / 8; word++)
		read[word / 64] |= 1ULL << word % 64;
}

static __always_inline int walk_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
{
	struct replay *r = replay_of(w);
	const struct wire_unfinished *at = &r->from->at;
	uint64_t offset = address - at->stack, size = at->bytes, outer = address - at->outer;

	if (r->world->read && bytes == WALK_WINDOW_BYTES)
		/*
		 * Reads are being recorded, and a window also holds words that the walk does not
		 * need. Without a window, the walker reads single words.
		 */
		return -1;
	if (outer < at->outer_bytes && bytes <= at->outer_bytes - outer) {
		memcpy(to, (const char *)r->from->stack + at->bytes + outer, bytes);
		return 0;
	}
	if (offset > size || bytes > size - offset) {
		/*
		 * The walker tries to read a whole window first, then the word alone: only the
		 * attempt to read the word shows that the walk needs it.
		 */
		r->past_copy |= bytes == sizeof(uint64_t) && (size > FULL_COPY || at->cut) &&
				offset < size + WALK_FRAME_MAX;
		return -1;
	}
	if (r->world->read)
		mark_read(r->world->read, offset, bytes);
	memcpy(to, (const char *)r->from->stack + offset, bytes);
	return 0;
}

static __always_inline int walk_read_part(struct native_walk *w, void *to, __u32 bytes, __u32 most,
					  __u64 address)
{
	/* for windows only: see walk_read() */
	return replay_of(w)->world->read || bytes > most || walk_read(w, to, bytes, address);
}

static inline const struct arena_chunk *walk_chunk(const struct native_walk *w, __u32 number)
{
	const struct finish_world *world = replay_of(w)->world;

	return world->chunk(world->context, number);
}

static inline struct unwind_slot *walk_slot(const struct native_walk *w, __u32 number)
{
	replay_of(w)->slot = number;
	return number < UNWIND_SLOTS_MAX ? &replay_of(w)->world->slots[number] : NULL;
}

static inline const struct unwind_rule *walk_rule(const struct native_walk *w, __u32 number)
{
	const struct unwind_rule *rule;

	if (number >= UNWIND_RULES_MAX)
		return NULL;
	rule = &replay_of(w)->world->rules[number];
	replay_of(w)->kind = rule->kind;
	return rule;
}

static inline __u64 walk_now(void)
{
	return clock_boot_ns();
}

static inline int walk_cache_lookup(const struct native_walk *w, __u64 pc, __u32 *rule)
{
	(void)w;
	(void)pc;
	(void)rule;
	return -1;
}

static inline void walk_cache_store(const struct native_walk *w, __u64 pc, __u32 rule)
{
	(void)w;
	(void)pc;
	(void)rule;
}

/*
 * The memory of a JVM is not at hand here, so these have nothing. w->hotspot is 0: its generated
 * code is left by frame pointers, and reports do not count such a stack as complete
 * (analyze/runtimes.h).
 */
static inline const struct hotspot_process *hotspot_find_process(const struct native_walk *w)
{
	(void)w;
	return NULL;
}

static inline const struct hotspot_layout *hotspot_find_layout(const struct hotspot_process *p)
{
	(void)p;
	return NULL;
}

static inline int hotspot_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
{
	(void)w;
	(void)to;
	(void)bytes;
	(void)address;
	return -1;
}

static inline int hotspot_read_part(struct native_walk *w, void *to, __u32 bytes, __u32 most,
				    __u64 address)
{
	return bytes > most || hotspot_read(w, to, bytes, address);
}

static inline const struct hotspot_code_rows *hotspot_find_code_rows(const struct native_walk *w)
{
	(void)w;
	return NULL;
}

static inline struct hotspot_cached *hotspot_cache_entry(__u64 hash)
{
	(void)hash;
	return NULL;
}

#include "bpf/unwind/frames.h"

struct replayed {
	struct replay replay;
	struct user_walk user; /* the walk is its first member */
};

_Static_assert(offsetof(struct replayed, user) == sizeof(struct replay) &&
		       offsetof(struct user_walk, walk) == 0,
	       "replay_of() looks there");
_Static_assert(sizeof(struct wire_unfinished) % 8 == 0 && sizeof(struct wire_sample) % 8 == 0,
	       "words follow");

static void begin_replay(struct replayed *r, const struct finish_world *world,
			 const struct unfinished_stack *u)
{
	struct native_walk *w = &r->user.walk;

	r->replay = (struct replay){.world = world, .from = u};
	*w = (struct native_walk){
		.pc = u->at.pc,
		.sp = u->at.sp,
		.fp = u->at.fp,
		.base = u->at.base,
		.mappings = world->mappings,
		.mapping_count = world->mapping_count,
		.exact = u->at.exact,
		.known = u->at.known,
		.settled = 1,
		.window.at = WALK_NO_WINDOW,
	};
	memcpy(w->registers, u->at.registers, sizeof(w->registers));
	if (u->count)
		memcpy(r->user.words, u->frames, u->count * sizeof(uint64_t));
	r->user.at = u->count;
	r->user.first = 0;
	r->user.most = WIRE_MAX_USER;
}

static enum stack_end replay_end(const struct replayed *r)
{
	enum stack_end end = (enum stack_end)r->user.walk.end;

	return end == END_UNREADABLE && r->replay.past_copy ? END_COPY_END : end;
}

int finish_stack(struct finished_stack *out, const struct finish_world *world,
		 const struct unfinished_stack *u)
{
	struct replayed r;

	if (u->count >= WIRE_MAX_USER)
		return -EBADMSG;
	begin_replay(&r, world, u);
	while (!user_walk_step(&r.user, true))
		;
	if (r.user.status == WALK_PENDING) {
		out->slot = r.replay.slot;
		out->waits_at = r.user.walk.pc - !r.user.walk.exact;
		return -EAGAIN;
	}
	memcpy(out->frames, r.user.words, r.user.at * sizeof(uint64_t));
	out->count = r.user.at;
	out->end = replay_end(&r);
	out->pc = r.user.walk.pc;
	out->rooted = out->end == END_WALKED &&
		      (r.replay.kind == UNWIND_END || r.replay.kind == UNWIND_CLONE);
	return 0;
}
