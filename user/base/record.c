// SPDX-License-Identifier: Apache-2.0
/* Tables of data made from the lists of record.h, and the words for enumeration values. */
#include "base/record.h"

#include <string.h>

/*
 * A list contains entries I(name, doc), which do not name the struct. So each kind puts the first
 * half of an initializer, which ends inside offsetof(), in front of the macro that completes it:
 * FIELD_OF(host) AS_INT (id, "").
 */
/* clang-format off */
#define FIELD_OF(kind) {.offset = __builtin_offsetof(struct kind,
#define AS_INT(n, d) n), .name = #n, .doc = d, .type = FIELD_INT},
#define AS_SIGNED(n, d) n), .name = #n, .doc = d, .type = FIELD_SIGNED},
#define AS_TEXT(n, d) n), .name = #n, .doc = d, .type = FIELD_TEXT},
/* clang-format on */

#define FIELD_TABLE(kind, KIND, storage, summary) \
	static const struct field kind##_fields[] = {KIND##_FIELDS( \
		FIELD_OF(kind) AS_INT, FIELD_OF(kind) AS_SIGNED, FIELD_OF(kind) AS_TEXT)};
RECORD_KINDS(FIELD_TABLE)

#define FIELD_COUNT(kind) (sizeof(kind##_fields) / sizeof(kind##_fields[0]))

/*
 * There is no padding between members, so that a struct can be cleared and compared field by field.
 */
#define NO_PADDING(kind, KIND, storage, summary) \
	_Static_assert(sizeof(struct kind) == FIELD_COUNT(kind) * 8, #kind " has padding");
RECORD_KINDS(NO_PADDING)

#define KIND_ENTRY(kind, KIND, class, summary) \
	[KIND_##KIND] = { \
		.name = #kind, \
		.doc = summary, \
		.fields = kind##_fields, \
		.field_count = FIELD_COUNT(kind), \
		.size = sizeof(struct kind), \
		.storage = STORAGE_##class, \
	},
const struct kind kinds[KIND_COUNT] = {RECORD_KINDS(KIND_ENTRY)};

#define LANE_TRAITS(N, text, from, of_lane, of_slice) \
	[LANE_##N] = { \
		.states = LANE_STATES_##from, \
		.number = LANE_REFERENCE_##of_lane, \
		.value = LANE_REFERENCE_##of_slice, \
	},
const struct lane_traits *lane_traits(uint64_t kind)
{
	static const struct lane_traits traits[LANE_KIND_COUNT] = {LANE_KINDS(LANE_TRAITS)};

	return &traits[kind < LANE_KIND_COUNT ? kind : LANE_NONE];
}

static const char *word(const char *const *words, size_t count, uint64_t value)
{
	return value < count && words[value] ? words[value] : "?";
}

#define WORD(list, value) word(list, sizeof(list) / sizeof((list)[0]), value)

#define LANE_WORD(N, text, ...) [LANE_##N] = text,
const char *lane_kind_word(uint64_t kind)
{
	static const char *const words[] = {LANE_KINDS(LANE_WORD)};

	return WORD(words, kind);
}

#define FRAME_WORD(N, text) [FRAME_##N] = text,
const char *frame_kind_word(uint64_t kind)
{
	static const char *const words[] = {FRAME_KINDS(FRAME_WORD)};

	return WORD(words, kind);
}

#define END_WORD(N, text) [END_##N] = text,
const char *stack_end_word(uint64_t end)
{
	static const char *const words[] = {STACK_ENDS(END_WORD)};

	return WORD(words, end);
}

bool event_is_of_waits(const char *name)
{
	return name && (!strcmp(name, EVENT_OFF_CPU) || !strcmp(name, EVENT_OFF_CPU_WAKERS));
}

bool event_is_of_hits(const char *name)
{
	return name && (!strcmp(name, EVENT_EXCEPTIONS) || !strcmp(name, EVENT_ALLOCATIONS));
}

bool event_is_weighted(const char *name)
{
	return event_is_of_waits(name) || event_is_of_hits(name);
}

uint64_t event_of_record(enum record_kind kind, const void *record)
{
	switch (kind) {
	case KIND_EVENT:
		return ((const struct event *)record)->id;
	case KIND_SAMPLE:
		return ((const struct sample *)record)->event;
	case KIND_ACCOUNT:
		return ((const struct account *)record)->event;
	case KIND_LOSS:
		return ((const struct loss *)record)->event;
	default:
		return 0;
	}
}

struct sum sum_of_sample(const struct sample *s)
{
	return (struct sum){
		.event = s->event,
		.thread = s->thread,
		.stack = s->stack,
		.count = 1,
		.weight = s->weight,
		.flags = s->flags & SAMPLE_FLAGS_OF_RUNTIME,
		.wait = s->wait,
	};
}

bool stack_end_is_whole(uint64_t end)
{
	return end == END_WALKED || end == END_NO_MEMORY_MAP || end == END_OUTSIDE ||
	       end == END_NOT_TAKEN;
}

#define STATE_WORD(N, text) [STATE_##N] = text,
const char *slice_state_word(uint64_t state)
{
	static const char *const words[] = {SLICE_STATES(STATE_WORD)};

	return WORD(words, state);
}

#define WAIT_WORD(N, text) [WAIT_##N] = text,
const char *wait_class_word(uint64_t class)
{
	static const char *const words[] = {WAIT_CLASSES(WAIT_WORD)};

	return WORD(words, class);
}

#define INTERRUPT_WORD(N, text) [INTERRUPT_##N] = text,
const char *interrupt_word(uint64_t interrupt)
{
	static const char *const words[] = {INTERRUPTS(INTERRUPT_WORD)};

	return WORD(words, interrupt);
}

#define SPAN_WORD(N, text) [SPAN_##N] = text,
const char *span_kind_word(uint64_t kind)
{
	static const char *const words[] = {SPAN_KINDS(SPAN_WORD)};

	return WORD(words, kind);
}

#define ORIGIN_WORD(N, text) [ORIGIN_##N] = text,
const char *span_origin_word(uint64_t origin)
{
	static const char *const words[] = {SPAN_ORIGINS(ORIGIN_WORD)};

	return WORD(words, origin);
}

#define LOSS_WORD(N, word, due, text) [LOSS_##N] = word,
const char *loss_reason_word(uint64_t reason)
{
	static const char *const words[] = {LOSS_REASONS(LOSS_WORD)};

	return WORD(words, reason);
}

#define LOSS_TEXT(N, word, due, text) [LOSS_##N] = text,
const char *loss_reason_text(uint64_t reason)
{
	static const char *const words[] = {LOSS_REASONS(LOSS_TEXT)};

	return WORD(words, reason);
}

#define LOSS_DUE(N, word, due, text) [LOSS_##N] = due,
bool loss_reason_is_due(uint64_t reason)
{
	static const bool due[] = {LOSS_REASONS(LOSS_DUE)};

	return reason < LOSS_COUNT && due[reason];
}
