// SPDX-License-Identifier: Apache-2.0
/*
 * Follow all paths through undescribed x86-64 code. A state says where the return address is, and
 * whether the frame pointer and rbx are saved on the stack. At the beginning of a function only the
 * return address is on the stack; each instruction changes the state; a jump passes it on.
 *
 *  - Functions begin at the entry point, at symbols, at the targets of calls and of jumps to the
 *    beginning of another function, and at code whose address is taken.
 *  - Code after a call is followed when a path of the called function has led to a ret: functions
 *    such as exit() have none, and what follows their calls may be another function. What follows
 *    the call of a function outside of the undescribed code is followed last.
 *  - Where two paths disagree, and where the stack pointer becomes unknown without a frame pointer,
 *    the code stays undescribed.
 *  - The targets of a jump through a table are read from the table, whose address gcc and clang
 *    compute with lea before they add an entry of 4 bytes to it. They compare the index before.
 *  - Where only one of two paths knows the stack pointer, after alloca(), a frame pointer tells the
 *    rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/unwind/path_state.h"
#include "symbolizers/unwind/paths.h"
#include "symbolizers/unwind/x86.h"

/* Maximum bytes of undescribed code in one file; all of musl has 0.6 MiB. */
#define CODE_MAX (1u << 20)
/*
 * Maximum number of instructions and of entries of jump tables that one pass follows, per byte of
 * code; real code has about 0.3.
 */
#define STEPS_PER_BYTE 4
#define SYMBOLS_SIZE_MAX (16u << 20) /* bytes of a symbol table */
#define TABLE_ENTRIES_MAX 1024 /* of one jump table */
#define ENTRY_MAX 64 /* bytes of the code at an entry point; crt1's _start has 34 to 61 */
#define PADDING_MAX 15 /* bytes; unwind_rows_finish() lets the row before cover as many */
/* Passes in which the beginnings of functions are searched; each finds those that the last uses. */
#define PASSES_MAX 8

enum path_mark {
	PATH_UNSEEN,
	PATH_SEEN, /* an instruction begins here */
	PATH_CONFLICT, /* paths with different states lead here */
	PATH_ENTRY = 4, /* flag: a function begins here */
	PATH_RETURNS = 8, /* flag: the function that begins here returns */
	/* flag: in an earlier pass, paths with different states led here; paths end here now */
	PATH_DISPUTED = 16,
};

/* Undescribed code, in file offsets. */
struct path_hole {
	uint64_t start, end;
	uint64_t address; /* of start */
	size_t index; /* of start in the arrays of struct paths */
};

struct path_point {
	uint32_t index; /* of an instruction in the arrays of struct paths */
	uint32_t function; /* index of the function's first instruction */
	struct path_state state;
	uint64_t table; /* address that the last lea instruction computed; 0: none */
	uint32_t compared; /* with what the last cmp instruction compared a register, plus 1 */
	uint32_t entries; /* of the table: a jump was taken if a number was larger; 0: not known */
};

/* A path that goes on if a function returns. */
struct path_wait {
	struct path_point point;
	bool is_tail_call; /* the point's function returns if the other one does */
	uint32_t next; /* the next one that waits for the same function, plus 1; 0: none */
};

struct paths {
	const struct unwind_source *source;
	VECTOR(struct path_hole) holes;
	size_t size; /* bytes of all holes */
	uint8_t *code, *marks, *sizes; /* by index: the bytes, enum path_mark, instruction sizes */
	struct path_state *states; /* by index */
	uint32_t *functions; /* by index: the function whose path first led there */
	VECTOR(uint32_t) starts; /* of the functions that were known when the pass began */
	uint32_t *waiting; /* by index of a function: the first path that waits for it, plus 1 */
	VECTOR(struct path_wait) waits;
	VECTOR(struct path_point) next, last; /* to be visited; last: when there is nothing else */
	bool found; /* this pass has found the beginning of a function */
	uint64_t steps; /* that this pass may still make */
	bool disputed; /* this pass has found a conflict that earlier passes have not found */
};

static int add_path_hole(void *context, uint64_t start, uint64_t end, enum unwind_layer layer,
			 struct unwind_extent *function)
{
	struct paths *p = context;
	struct path_hole hole = {.start = start, .end = end, .index = p->size};

	(void)layer;
	if (function || p->size > CODE_MAX)
		return 0;
	p->size += end - start;
	return vector_push(&p->holes, hole);
}

static int find_path_holes(struct paths *p, struct unwind_rows *rows)
{
	const struct unwind_source *s = p->source;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->segments.count; i++) {
		const struct unwind_segment *in = &s->segments.items[i];
		size_t first = p->holes.count;

		ret = unwind_rows_walk(rows, in->offset, in->offset + in->size, add_path_hole, p);
		for (size_t n = first; n < p->holes.count; n++)
			p->holes.items[n].address =
				p->holes.items[n].start - in->offset + in->address;
	}
	return ret;
}

static int read_holes(struct paths *p)
{
	int ret = 0;

	p->code = malloc(p->size);
	p->marks = calloc(p->size, 1);
	p->sizes = calloc(p->size, 1);
	p->states = calloc(p->size, sizeof(*p->states));
	p->functions = calloc(p->size, sizeof(*p->functions));
	p->waiting = calloc(p->size, sizeof(*p->waiting));
	if (!p->code || !p->marks || !p->sizes || !p->states || !p->functions || !p->waiting)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < p->holes.count; i++) {
		const struct path_hole *h = &p->holes.items[i];

		ret = unwind_source_read(p->source, h->start, p->code + h->index,
					 h->end - h->start);
	}
	return ret;
}

/* Return the hole that holds an index of the arrays. */
static const struct path_hole *hole_of_index(const struct paths *p, size_t index)
{
	size_t low = 0, high = p->holes.count;

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (p->holes.items[middle].index <= index)
			low = middle;
		else
			high = middle;
	}
	return &p->holes.items[low];
}

/* Find the index of the code at an address. Return false if it is in no hole. */
static bool index_of_address(const struct paths *p, uint64_t address, size_t *out)
{
	size_t low = 0, high = p->holes.count;
	const struct path_hole *h;

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (p->holes.items[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	h = &p->holes.items[low];
	if (address < h->address || address - h->address >= h->end - h->start)
		return false;
	*out = h->index + (address - h->address);
	return true;
}

static void add_path_entry(struct paths *p, uint64_t address)
{
	size_t index;

	if (!index_of_address(p, address, &index) || p->marks[index] & PATH_ENTRY)
		return;
	p->marks[index] |= PATH_ENTRY;
	p->found = true;
}

/*
 * Add the entry point. Its own code is described as the beginning of a stack (starts.h), but it
 * calls, or takes the address of, the function that calls main(), or main() itself.
 */
static void add_code_at_entry(struct paths *p)
{
	uint64_t address = p->source->image->header.e_entry, at, room;
	uint8_t code[ENTRY_MAX];
	struct x86_instruction i;

	add_path_entry(p, address);
	if (!unwind_source_offset(p->source, address, &at, &room) ||
	    unwind_source_read(p->source, at, code, room < ENTRY_MAX ? room : ENTRY_MAX))
		return;
	room = room < ENTRY_MAX ? room : ENTRY_MAX;
	for (size_t n = 0; n < room && x86_decode(code + n, room - n, &i); n += i.size) {
		const uint64_t next = address + n + i.size;

		if (!i.map && i.opcode == 0x8d && i.has_rip)
			add_path_entry(p, next + (uint64_t)(int64_t)i.displacement);
		if (!i.map && i.opcode == 0xe8)
			add_path_entry(p, next + (uint64_t)i.immediate);
	}
}

/* Add the functions of a symbol table of 64-bit symbols. */
static void add_entries_of_symbols(struct paths *p, uint32_t type)
{
	const struct elf_image *image = p->source->image;
	GElf_Shdr section;
	Elf64_Sym *symbols;

	if (image->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !elf_section_typed(image, type, &section))
		return;
	symbols = (Elf64_Sym *)elf_section_bytes(image, &section, SYMBOLS_SIZE_MAX);
	for (size_t i = 0; symbols && i < section.sh_size / sizeof(*symbols); i++) {
		const uint64_t address = symbols[i].st_value;
		size_t index;

		const unsigned int kind = GELF_ST_TYPE(symbols[i].st_info);

		if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) ||
		    !index_of_address(p, address, &index))
			continue;
		unwind_source_hash(p->source, &address, 1);
		add_path_entry(p, address);
	}
	free(symbols);
}

/* Add the functions whose addresses the dynamic linker puts into data. */
static void add_entries_of_relocations(struct paths *p)
{
	const struct elf_image *image = p->source->image;
	GElf_Shdr s;

	for (size_t n = 1; n < image->sections; n++) {
		Elf64_Rela *rela = NULL;

		if (elf_section(image, n, &s) && s.sh_type == SHT_RELA && s.sh_flags & SHF_ALLOC)
			rela = (Elf64_Rela *)elf_section_bytes(image, &s, SYMBOLS_SIZE_MAX);
		for (size_t i = 0; rela && i < s.sh_size / sizeof(*rela); i++) {
			const uint64_t address = (uint64_t)rela[i].r_addend;
			size_t index;

			if (ELF64_R_TYPE(rela[i].r_info) != R_X86_64_RELATIVE ||
			    !index_of_address(p, address, &index))
				continue;
			unwind_source_hash(p->source, &address, 1);
			add_path_entry(p, address);
		}
		free(rela);
	}
}

/* Mark an instruction to which paths with different states lead. */
static void mark_conflict(struct paths *p, size_t index)
{
	uint8_t *mark = &p->marks[index];

	p->disputed = p->disputed || !(*mark & PATH_DISPUTED);
	*mark = (*mark & PATH_ENTRY) | PATH_CONFLICT | PATH_DISPUTED;
}

/* A path of a function has led to a ret: continue what waits for that. Return 0 or -ENOMEM. */
static int function_returns(struct paths *p, uint32_t function)
{
	VECTOR(uint32_t) returning = {0};
	int ret = vector_push(&returning, function);

	while (!ret && returning.count) {
		uint32_t f = returning.items[--returning.count];
		uint32_t next = p->marks[f] & PATH_RETURNS ? 0 : p->waiting[f];

		p->marks[f] |= PATH_RETURNS;
		while (!ret && next) {
			const struct path_wait *w = &p->waits.items[next - 1];

			ret = w->is_tail_call ? vector_push(&returning, w->point.function)
					      : vector_push(&p->next, w->point);
			next = w->next;
		}
	}
	vector_free(&returning);
	return ret;
}

/* Go on at a point, or if it is a tail call return, if the function at an index returns. */
static int wait_for_return(struct paths *p, size_t function, const struct path_point *at,
			   bool is_tail_call)
{
	struct path_wait w = {
		.point = *at, .is_tail_call = is_tail_call, .next = p->waiting[function]};
	int ret;

	if (p->marks[function] & PATH_RETURNS)
		return is_tail_call ? function_returns(p, at->function)
				    : vector_push(&p->next, *at);
	ret = vector_push(&p->waits, w);
	if (!ret)
		p->waiting[function] = (uint32_t)p->waits.count;
	return ret;
}

/* A path comes to where another one has been: its function returns if the other one's does. */
static int meet_path(struct paths *p, const struct path_point *at)
{
	uint32_t function = p->functions[at->index];

	return function == at->function ? 0 : wait_for_return(p, function, at, true);
}

/* Continue a path at an index with a state. Return 0 or -ENOMEM. */
static int continue_path(struct paths *p, const struct path_point *to)
{
	uint8_t *mark = &p->marks[to->index];

	/* all functions are followed from their own state */
	if (*mark & PATH_ENTRY)
		return to->index == to->function ? 0 : wait_for_return(p, to->index, to, true);
	if ((*mark & 3) == PATH_SEEN &&
	    !memcmp(&p->states[to->index], &to->state, sizeof(to->state)))
		return meet_path(p, to);
	return vector_push(&p->next, *to);
}

/*
 * Continue at an address. A jump to another place of the same path keeps the state; a jump whose
 * state is that of a beginning leaves the function (a tail call).
 */
static int jump_path_to(struct paths *p, const struct path_point *from, uint64_t address)
{
	struct path_point to = *from;
	size_t index;

	if (!index_of_address(p, address, &index))
		return 0;
	to.index = (uint32_t)index;
	return continue_path(p, &to);
}

/*
 * Find the function of a path: from its first index up to that of the next function, as far as they
 * were known when the pass began.
 */
static void find_function(const struct paths *p, size_t index, size_t *from, size_t *end)
{
	size_t low = 0, high = p->starts.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (p->starts.items[middle] <= index)
			low = middle + 1;
		else
			high = middle;
	}
	*from = low ? p->starts.items[low - 1] : 0;
	*end = low < p->starts.count ? p->starts.items[low] : p->size;
}

/*
 * Continue at the targets in the table of a switch statement, which all belong to the function of
 * the jump.
 */
static int jump_by_table(struct paths *p, const struct path_point *from)
{
	int32_t table[TABLE_ENTRIES_MAX];
	size_t first, end, index, count = from->entries;
	uint64_t at;
	int ret = 0;

	if (p->steps < count ||
	    !elf_image_offset(p->source->image, from->table, count * sizeof(*table), &at) ||
	    unwind_source_read(p->source, at, table, count * sizeof(*table)))
		return 0;
	p->steps -= count;
	find_function(p, from->index, &first, &end);
	for (size_t i = 0; !ret && i < count; i++) {
		const uint64_t target = from->table + (uint64_t)(int64_t)table[i];

		if (index_of_address(p, target, &index) && index >= first && index < end)
			ret = jump_path_to(p, from, target);
	}
	return ret;
}

static bool is_path_jump(const struct x86_instruction *i, bool *conditional)
{
	*conditional = (i->map == 0 && i->opcode >= 0x70 && i->opcode < 0x80) ||
		       (i->map == 0 && i->opcode >= 0xe0 && i->opcode < 0xe4) ||
		       (i->map == 1 && i->opcode >= 0x80 && i->opcode < 0x90);
	return *conditional || (i->map == 0 && (i->opcode == 0xe9 || i->opcode == 0xeb));
}

/* Return whether no instruction follows: ret, an indirect jump, ud2, hlt, int3. */
static bool ends_path(const struct x86_instruction *i)
{
	if (i->map == 1)
		return i->opcode == 0x0b;
	return !i->map &&
	       (i->opcode == 0xc3 || i->opcode == 0xc2 || i->opcode == 0xcb || i->opcode == 0xcc ||
		i->opcode == 0xf4 ||
		(i->opcode == 0xff && ((i->modrm >> 3 & 7) == 4 || (i->modrm >> 3 & 7) == 5)));
}

/* Return whether a conditional jump is taken if an unsigned number is larger, or not larger. */
static bool is_condition(const struct x86_instruction *i, bool larger)
{
	return (i->opcode & 15) == (larger ? 7 : 6) && (i->opcode >> 4 == 7 || i->map == 1);
}

/* Follow the jump at address, and continue after it if it is conditional. */
static int follow_path_jump(struct paths *p, struct path_point *at, const struct x86_instruction *i,
			    uint64_t address, bool conditional)
{
	uint64_t target = address + i->size + (uint64_t)i->immediate;
	struct path_point taken = *at;
	int ret;

	if (conditional && is_condition(i, false))
		taken.entries = at->compared;
	ret = jump_path_to(p, &taken, target);
	if (ret || !conditional)
		return ret;
	if (is_condition(i, true))
		at->entries = at->compared;
	at->index += i->size;
	return continue_path(p, at);
}

/* Remember the number with which an instruction compares a register. */
static void take_compared(struct path_point *at, const struct x86_instruction *i)
{
	bool compares =
		!i->map && (i->opcode == 0x3c || i->opcode == 0x3d ||
			    ((i->opcode == 0x80 || i->opcode == 0x81 || i->opcode == 0x83) &&
			     (i->modrm >> 3 & 7) == 7));

	if (compares)
		at->compared = i->immediate >= 0 && i->immediate < TABLE_ENTRIES_MAX
				       ? (uint32_t)i->immediate + 1
				       : 0;
}

/* Remember an address that a lea instruction computes; it may be of a function or of a table. */
static void take_path_address(struct paths *p, struct path_point *at,
			      const struct x86_instruction *i, uint64_t address)
{
	uint64_t target = address + i->size + (uint64_t)(int64_t)i->displacement;

	if (i->map || i->opcode != 0x8d || !i->has_rip)
		return;
	at->table = target;
	if (target % 16 == 0)
		add_path_entry(p, target);
}

/* Return whether a function only jumps to an address in memory, as a stub of a PLT does. */
static bool is_stub(const struct paths *p, size_t index)
{
	struct x86_instruction i;

	for (size_t n = 0; n < 2 && index < p->size; n++) {
		if (!x86_decode(p->code + index, p->size - index, &i))
			return false;
		if (!i.map && i.opcode == 0xff)
			return i.has_rip && (i.modrm >> 3 & 7) == 4;
		if (i.map != 1 || i.opcode != 0x1e) /* endbr64 */
			return false;
		index += i.size;
	}
	return false;
}

/* Follow a call, after which *at is. */
static int follow_path_call(struct paths *p, const struct path_point *at, uint64_t target)
{
	size_t function;

	if (!index_of_address(p, target, &function) || is_stub(p, function))
		return vector_push(&p->last, *at);
	add_path_entry(p, target);
	return wait_for_return(p, function, at, false);
}

/* Follow an instruction after which none follows. */
static int follow_path_end(struct paths *p, const struct path_point *at,
			   const struct x86_instruction *i)
{
	bool indirect = !i->map && i->opcode == 0xff;

	if (indirect && at->table && !path_state_is_entry(&at->state))
		return jump_by_table(p, at);
	if (indirect || (!i->map && (i->opcode == 0xc3 || i->opcode == 0xc2)))
		return function_returns(p, at->function);
	return 0;
}

/* Follow one instruction. */
static int follow_instruction(struct paths *p, struct path_point at)
{
	const struct path_hole *h = hole_of_index(p, at.index);
	size_t left = h->index + (h->end - h->start) - at.index;
	uint64_t address = h->address + (at.index - h->index);
	struct x86_instruction i;
	bool conditional;

	if (!x86_decode(p->code + at.index, left, &i))
		return 0;
	p->sizes[at.index] = i.size;
	take_path_address(p, &at, &i, address);
	take_compared(&at, &i);
	if (is_path_jump(&i, &conditional))
		return follow_path_jump(p, &at, &i, address, conditional);
	if (ends_path(&i))
		return follow_path_end(p, &at, &i);
	if (i.size == left)
		return 0;
	at.index += i.size;
	if (!i.map && i.opcode == 0xe8)
		return follow_path_call(p, &at, address + i.size + (uint64_t)i.immediate);
	path_state_run(&at.state, &i);
	if (!at.state.depth && !at.state.frame)
		return 0;
	return continue_path(p, &at);
}

/* Visit a point unless it was visited before, and follow its instruction. */
static int visit_point(struct paths *p, const struct path_point *at)
{
	uint8_t *mark = &p->marks[at->index];
	struct path_point to = *at;
	bool changed;

	if (*mark & PATH_ENTRY && at->index != at->function)
		return 0; /* the call before did not return, after all */
	if ((*mark & 3) == PATH_CONFLICT)
		return 0;
	if ((*mark & 3) == PATH_SEEN) {
		bool joined = path_state_join(&p->states[at->index], &at->state, &changed);

		if (joined && !changed)
			return meet_path(p, at);
		if (!joined) {
			mark_conflict(p, at->index);
			return 0;
		}
	} else {
		p->states[at->index] = at->state;
		p->functions[at->index] = at->function;
	}
	*mark |= PATH_SEEN;
	if (*mark & PATH_DISPUTED) {
		mark_conflict(p, at->index);
		return 0;
	}
	to.state = p->states[at->index];
	return follow_instruction(p, to);
}

/* Return whether an instruction reads rax or eax, in which calls return their results. */
static bool reads_result(const struct x86_instruction *i)
{
	bool operands = i->has_modrm && !(i->rex & (X86_REX_R | X86_REX_B)), to_rax;

	if (i->map)
		return false;
	if (i->opcode == 0x98 || i->opcode == 0x3d || i->opcode == 0x3c || i->opcode == 0xa8)
		return true; /* cltq, cmp, test */
	to_rax = (i->modrm & 7) == 0 && x86_mod(i) == 3 && !(i->rex & X86_REX_B);
	if (i->opcode == 0x83 || i->opcode == 0x63)
		return to_rax;
	return (i->opcode == 0x89 && x86_reg(i) == 0) ||
	       (operands && (i->opcode == 0x85 || i->opcode == 0x84) && to_rax);
}

/*
 * Return whether an instruction after a call may begin another function, or padding before one: it
 * is a nop (90, or 0f 1f), pushes a register, or lies at a multiple of 16 and does not read the
 * result of the call.
 */
static bool may_begin_function(const struct paths *p, size_t index)
{
	const struct path_hole *h = hole_of_index(p, index);
	struct x86_instruction i;

	if (!x86_decode(p->code + index, p->size - index, &i))
		return true;
	if ((i.map == 1 && i.opcode == 0x1f) ||
	    (!i.map && (i.opcode == 0x90 || (i.opcode >= 0x50 && i.opcode < 0x58))))
		return true;
	if (!i.map && i.opcode == 0xe8)
		return true; /* calls one after the other: of abort(), out of the way of other code
			      */
	return (h->address + (index - h->index)) % 16 == 0 && !reads_result(&i);
}

/*
 * Follow all points. What comes after the call of a function that is not known to return is
 * followed last, and not at all if it may be another function.
 */
static int follow_all_paths(struct paths *p)
{
	struct path_point at;
	int ret = 0;

	while (!ret && (p->next.count || p->last.count)) {
		if (!p->steps--)
			return -E2BIG;
		if (p->next.count) {
			at = p->next.items[--p->next.count];
			ret = visit_point(p, &at);
			continue;
		}
		at = p->last.items[--p->last.count];
		if ((p->marks[at.index] & 3) == PATH_UNSEEN && !may_begin_function(p, at.index))
			ret = visit_point(p, &at);
	}
	return ret;
}

/* Follow the paths of all functions, from new. kept: flags of enum path_mark that are kept. */
static int make_path_pass(struct paths *p, uint8_t kept)
{
	int ret = 0;

	p->found = p->disputed = false;
	p->waits.count = p->next.count = p->last.count = p->starts.count = 0;
	p->steps = STEPS_PER_BYTE * p->size;
	memset(p->waiting, 0, p->size * sizeof(*p->waiting));
	for (size_t i = 0; i < p->size; i++)
		p->marks[i] &= kept;
	for (uint32_t i = 0; !ret && i < p->size; i++) {
		const struct path_point at = {.index = i, .function = i, .state = path_state_entry};

		if (!(p->marks[i] & PATH_ENTRY))
			continue;
		ret = vector_push(&p->next, at);
		if (!ret)
			ret = vector_push(&p->starts, i);
	}
	ret = ret ? ret : follow_all_paths(p);
	heartbeat_send(p->source->image->heartbeat);
	return ret;
}

/* Return whether paths lead to an instruction, even if they disagree. */
static bool is_path_reached(const struct paths *p, size_t index)
{
	return (p->marks[index] & 3) != PATH_UNSEEN && p->sizes[index];
}

/*
 * Add the rows of a run of instructions that begins at from, which has no gap and no beginning of
 * another function. Return the number of its bytes or a negative errno.
 */
static int64_t add_path_run(struct unwind_rows *rows, const struct paths *p,
			    const struct path_hole *h, size_t from)
{
	size_t end = from, at = from, limit = h->index + (h->end - h->start);
	uint64_t offset = h->start - h->index;
	int ret;

	do {
		end += p->sizes[end];
	} while (end < limit && is_path_reached(p, end) && !(p->marks[end] & PATH_ENTRY));
	ret = unwind_rows_begin(rows, UNWIND_LAYER_LINES, offset + from, offset + end);
	for (; !ret && at < end; at += p->sizes[at]) {
		const struct unwind_rule rule = (p->marks[at] & 3) == PATH_SEEN
							? path_state_rule(&p->states[at])
							: (struct unwind_rule){.kind = UNWIND_BAD};

		ret = unwind_rows_put(rows, offset + at, &rule);
	}
	return ret && ret != -EINVAL ? ret : (int64_t)(end - from);
}

/* Return whether code that no path reaches is padding: nops, int3. */
static bool is_path_padding(const struct paths *p, size_t from, size_t end)
{
	struct x86_instruction i;

	for (; from < end; from += i.size) {
		if (!x86_decode(p->code + from, end - from, &i))
			return false;
		if ((i.map || (i.opcode != 0x90 && i.opcode != 0xcc)) &&
		    (i.map != 1 || i.opcode != 0x1f))
			return false;
	}
	return true;
}

/*
 * Add a row for code that no path reaches, unless it is padding: short gaps between rows count as
 * padding that belongs to the row before. Return the number of its bytes or a negative errno.
 */
static int64_t add_path_gap(struct unwind_rows *rows, const struct paths *p,
			    const struct path_hole *h, size_t from)
{
	const struct unwind_rule unknown = {.kind = UNWIND_BAD};
	size_t end = from, limit = h->index + (h->end - h->start);
	int ret = 0;

	while (end < limit && !is_path_reached(p, end))
		end++;
	if (end - from <= PADDING_MAX && !is_path_padding(p, from, end))
		ret = unwind_rows_add(rows, UNWIND_LAYER_LINES, h->start + (from - h->index),
				      h->start + (end - h->index), &unknown);
	return ret && ret != -EINVAL ? ret : (int64_t)(end - from);
}

static int add_path_rows(struct unwind_rows *rows, const struct paths *p)
{
	for (size_t i = 0; i < p->holes.count; i++) {
		const struct path_hole *h = &p->holes.items[i];
		size_t end = h->index + (h->end - h->start);

		for (size_t at = h->index; at < end;) {
			int64_t size = is_path_reached(p, at) ? add_path_run(rows, p, h, at)
							      : add_path_gap(rows, p, h, at);

			if (size < 0)
				return (int)size;
			at += (size_t)size;
		}
	}
	return 0;
}

static uint64_t bytes_of_code(const struct unwind_source *s)
{
	uint64_t code = 0;

	for (size_t i = 0; i < s->segments.count; i++)
		code += s->segments.items[i].size;
	return code;
}

static int describe_code(struct unwind_rows *rows, struct paths *p)
{
	int ret = find_path_holes(p, rows);

	if (ret || p->size > CODE_MAX || p->size < bytes_of_code(p->source) / 2)
		return ret;
	ret = read_holes(p);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	add_code_at_entry(p);
	add_entries_of_symbols(p, SHT_DYNSYM);
	add_entries_of_symbols(p, SHT_SYMTAB);
	add_entries_of_relocations(p);
	/* Conflicts count only when all functions are known. */
	p->found = true;
	for (unsigned int i = 0; !ret && p->found && i < PASSES_MAX; i++)
		ret = make_path_pass(p, PATH_ENTRY);
	for (unsigned int i = 0; !ret && p->disputed && i < PASSES_MAX; i++)
		ret = make_path_pass(p, PATH_ENTRY | PATH_DISPUTED);
	if (ret)
		return ret == -E2BIG ? 0 : ret;
	return add_path_rows(rows, p);
}

bool unwind_is_sparse(const struct unwind_source *s, uint64_t functions)
{
	return bytes_of_code(s) / UNWIND_PATHS_SPARSE > functions;
}

int unwind_paths_add(struct unwind_rows *rows, const struct unwind_source *s)
{
	struct paths p = {.source = s};
	int ret;

	if (unwind_source_machine(s)->elf != EM_X86_64 || s->parts.count)
		return 0;
	unwind_rows_sort(rows);
	ret = describe_code(rows, &p);
	vector_free(&p.holes);
	vector_free(&p.next);
	vector_free(&p.last);
	vector_free(&p.waits);
	vector_free(&p.starts);
	free(p.code);
	free(p.marks);
	free(p.sizes);
	free(p.states);
	free(p.functions);
	free(p.waiting);
	return ret;
}
