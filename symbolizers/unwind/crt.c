// SPDX-License-Identifier: Apache-2.0
/*
 * Add rules for start-up code that the compiler links into each file. Every program and library
 * begins in _init() and ends in _fini(): the sections .init and .fini, which no call frame
 * information describes. On x86-64 these functions align the stack, make their calls, and undo the
 * alignment:
 *
 *   glibc 2.36  [endbr64] sub $8,%rsp ... add $8,%rsp; ret
 *   musl 1.2.3  push %rax ... pop %rax; ret
 *
 * The crtbegin.o of gcc 12 has four functions side by side, also undescribed: deregister_tm_clones,
 * register_tm_clones, __do_global_dtors_aux and frame_dummy, of which the last two are the first
 * entries of .fini_array and .init_array. Only __do_global_dtors_aux touches the stack: after a
 * conditional jump it saves the frame pointer, and restores it before its ret.
 */
#include <errno.h>
#include <string.h>

#include "symbolizers/unwind/crt.h"

/*
 * Maximum bytes of _init() and _fini(), which have 9 to 30, and more where old libraries are linked
 * in.
 */
#define FUNCTION_MAX 256
/*
 * Sizes of the functions in crtbegin.o, in bytes: the first two together (exact), the third (upper
 * bound), and the fourth (exact).
 */
#define CLONES_SIZE 0x70
#define DTORS_MAX 128
#define DUMMY_SIZE 9
#define PUSH_RBP 0x55
#define JNE 0x75

struct init_shape {
	/* bytes at the start and at the end of a function; end includes the ret instruction */
	const uint8_t *begin, *end;
	uint64_t begin_size, end_size;
};

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint8_t sub_rsp[] = {0x48, 0x83, 0xec, 0x08};
static const uint8_t add_rsp_ret[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
static const uint8_t push_rax[] = {0x50};
static const uint8_t pop_rax_ret[] = {0x58, 0xc3};

static const struct init_shape shapes[] = {
	{sub_rsp, add_rsp_ret, sizeof(sub_rsp), sizeof(add_rsp_ret)},
	{push_rax, pop_rax_ret, sizeof(push_rax), sizeof(pop_rax_ret)},
};

static struct unwind_rule crt_rule(const struct unwind_machine *m, int32_t cfa_offset)
{
	return (struct unwind_rule){
		.cfa_offset = cfa_offset,
		.second = -8,
		.kind = UNWIND_CFA,
		.reg = m->sp,
		.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_AT_CFA),
	};
}

/* Code that lowers the stack pointer by 8 bytes for a while. Positions are file offsets. */
struct crt_code {
	uint64_t begin, end;
	uint64_t moved, restored; /* the stack pointer is lowered from moved up to restored */
	bool saves_fp; /* the 8 bytes hold the frame pointer */
};

static int add_crt_rows(struct unwind_rows *rows, enum unwind_layer layer,
			const struct unwind_machine *m, const struct crt_code *c)
{
	const struct unwind_rule outside = crt_rule(m, 8);
	struct unwind_rule inside = crt_rule(m, 16);
	int ret = unwind_rows_begin(rows, layer, c->begin, c->end);

	if (c->saves_fp) {
		inside.fp_offset = -16;
		inside.saved = UNWIND_SAVED(UNWIND_FP_AT_CFA, UNWIND_RA_AT_CFA);
	}
	if (!ret)
		ret = unwind_rows_put(rows, c->begin, &outside);
	if (!ret)
		ret = unwind_rows_put(rows, c->moved, &inside);
	if (!ret)
		ret = unwind_rows_put(rows, c->restored, &outside);
	return ret == -EINVAL ? 0 : ret;
}

static const uint8_t *find_init_end(const struct init_shape *h, const uint8_t *code, size_t size)
{
	return memmem(code, size, h->end, h->end_size);
}

/*
 * Add the rules of the function at the file offset at, if its code has one of the shapes. room:
 * bytes from at to the end of the segment.
 */
static int add_init_function(struct unwind_rows *rows, const struct unwind_source *s, uint64_t at,
			     uint64_t room)
{
	size_t size = room < FUNCTION_MAX ? room : FUNCTION_MAX, skip = 0;
	uint8_t code[FUNCTION_MAX];

	if (unwind_source_read(s, at, code, size))
		return 0;
	if (size > sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		skip = sizeof(endbr64);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const struct init_shape *h = &shapes[i];
		size_t moved = skip + h->begin_size;
		struct crt_code c = {.begin = at, .moved = at + moved};
		const uint8_t *end;

		if (size < moved || memcmp(code + skip, h->begin, h->begin_size) != 0)
			continue;
		end = find_init_end(h, code + moved, size - moved);
		if (!end)
			continue;
		c.end = at + (uint64_t)(end - code) + h->end_size;
		c.restored = c.end - 1; /* the ret instruction */
		return add_crt_rows(rows, UNWIND_LAYER_STARTS, unwind_source_machine(s), &c);
	}
	return 0;
}

/*
 * Find a function by its entry in the dynamic segment, else (in a static program) by its section.
 */
static bool find_init_function(const struct unwind_source *s, int64_t tag, const char *name,
			       uint64_t *out, uint64_t *out_room)
{
	uint64_t address;
	GElf_Shdr section;

	if (elf_dynamic(s->image, tag, &address))
		return unwind_source_offset(s, address, out, out_room);
	return elf_section_named(s->image, name, &section) &&
	       unwind_source_offset(s, section.sh_addr, out, out_room);
}

/* Find the file offset of the first function in an array that the dynamic segment refers to. */
static bool find_first_of_array(const struct unwind_source *s, int64_t tag, uint64_t *out)
{
	uint64_t array, at, function;

	return elf_dynamic(s->image, tag, &array) &&
	       elf_image_offset(s->image, array, sizeof(function), &at) &&
	       !unwind_source_read(s, at, &function, sizeof(function)) &&
	       unwind_source_offset(s, function, out, NULL);
}

/*
 * Add the functions of crtbegin.o in the lowest layer: any other description of that code is more
 * reliable.
 */
static int add_crtbegin(struct unwind_rows *rows, const struct unwind_source *s)
{
	static const uint8_t lea_rdi[] = {0x48, 0x8d, 0x3d}, pop_rbp_ret[] = {0x5d, 0xc3};
	uint8_t code[CLONES_SIZE + DTORS_MAX];
	const uint8_t *aux = code + CLONES_SIZE, *push, *pop;
	struct crt_code c = {.saves_fp = true};
	uint64_t dtors, dummy;

	if (!find_first_of_array(s, DT_FINI_ARRAY, &dtors) ||
	    !find_first_of_array(s, DT_INIT_ARRAY, &dummy) || dtors < CLONES_SIZE ||
	    dummy <= dtors || dummy - dtors > DTORS_MAX ||
	    unwind_source_read(s, dtors - CLONES_SIZE, code, CLONES_SIZE + (dummy - dtors)))
		return 0;
	c.begin = memcmp(code, lea_rdi, sizeof(lea_rdi)) ? dtors : dtors - CLONES_SIZE;
	push = memchr(aux, PUSH_RBP, dummy - dtors);
	pop = push ? memmem(push, (size_t)(aux + (dummy - dtors) - push), pop_rbp_ret,
			    sizeof(pop_rbp_ret))
		   : NULL;
	/* The push must follow a jne, which has two bytes. */
	if (!pop || push - aux < 2 || push[-2] != JNE)
		return 0;
	c.moved = dtors + (uint64_t)(push + 1 - aux);
	c.restored = dtors + (uint64_t)(pop + 1 - aux);
	c.end = dummy + DUMMY_SIZE;
	return add_crt_rows(rows, UNWIND_LAYER_LINES, unwind_source_machine(s), &c);
}

int unwind_crt_add(struct unwind_rows *rows, const struct unwind_source *s)
{
	uint64_t at, room;
	int ret = 0;

	if (unwind_source_machine(s)->elf != EM_X86_64)
		return 0;
	if (find_init_function(s, DT_INIT, ".init", &at, &room))
		ret = add_init_function(rows, s, at, room);
	if (!ret && find_init_function(s, DT_FINI, ".fini", &at, &room))
		ret = add_init_function(rows, s, at, room);
	return ret ? ret : add_crtbegin(rows, s);
}
