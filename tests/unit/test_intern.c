// SPDX-License-Identifier: Apache-2.0
/* Test how stacks get ids, and frames their names, in particular those of Python. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/event.h"
#include "capture/intern.h"
#include "capture/pythons.h"
#include "suite.h"

#define MOST 128
#define FILE_ID 1001 /* of objects that objects.h did not make */
#define MEMORY_ID 1002

/*
 * The file is mapped at MAPPED from its offset 0x1000 on; the addresses of its evaluation loop and
 * of another function.
 */
#define MAPPED 0x400000
#define LOOP (MAPPED + 0x100)
#define OTHER (MAPPED + 0x300)

static struct {
	struct sink sink;
	struct frame frames[MOST];
	struct stack stacks[MOST];
	struct function functions[MOST];
	char names[MOST][32], files[MOST][32];
	unsigned int frame_count, stack_count, function_count;
} kept;

static int keep(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	const struct frame *f = record;
	const struct stack *stack = record;
	const struct function *function = record;

	(void)s;
	(void)err;
	if (kind == KIND_FRAME) {
		ck_assert_uint_lt(f->id, MOST);
		kept.frames[f->id] = *f;
		kept.frame_count++;
	} else if (kind == KIND_STACK) {
		ck_assert_uint_lt(stack->id, MOST);
		kept.stacks[stack->id] = *stack;
		kept.stack_count++;
	} else if (kind == KIND_FUNCTION) {
		ck_assert_uint_lt(function->id, MOST);
		kept.functions[function->id] = *function;
		strcpy(kept.names[function->id], function->name);
		strcpy(kept.files[function->id], function->file ? function->file : "");
		kept.function_count++;
	}
	return 0;
}

static const struct sink_ops keep_ops = {.put = keep};

static struct symbolizer *symbolizer;
static struct objects *objects;
static struct opener *opener;
static struct intern *interning;
static struct spaces all;
static struct space *space;
static struct object file, memory;
static struct python_file interpreter;
static struct process_entry process;

static void renewed(void *context, struct object *o, bool changed)
{
	(void)context;
	(void)o;
	(void)changed;
}

static void begin_objects(void)
{
	const struct symbolizer_events names = {0};
	const struct opener_events files = {0};
	struct objects_context c = {.object_updated = renewed};

	ck_assert_int_eq(symbolizer_new(&symbolizer, &names, NULL), 0);
	ck_assert_int_eq(opener_new(&opener, &files, NULL), 0);
	c.symbolizer = symbolizer;
	c.opener = opener;
	ck_assert_int_eq(objects_new(&objects, &c, NULL), 0);
}

/* Make an object for which names can be requested; the replies are not processed. */
static struct object known(uint64_t id, enum mapping_kind kind)
{
	return (struct object){.id = id, .kind = kind, .state = OBJECT_KNOWN, .read = true};
}

static void begin(void)
{
	const struct space_mapping m = {MAPPED, MAPPED + 0x1000, 0x1000, &file};

	memset(&kept, 0, sizeof(kept));
	kept.sink = (struct sink){&keep_ops, WANT_ALL};
	begin_objects();
	ck_assert_int_eq(intern_new(&interning, objects, symbolizer, &kept.sink, NULL), 0);
	interpreter = (struct python_file){
		.support = PYTHON_READABLE,
		.loops = 1,
		.loop = {{0x1100, 0x1200}},
		.code_delta = 0x70000,
		.code_type = 0x90000,
	};
	file = known(FILE_ID, MAPPING_FILE);
	file.path = "/usr/lib/libpython.so";
	file.python.file = &interpreter;
	file.python.layout = 1;
	memory = known(MEMORY_ID, MAPPING_PYTHON);
	process =
		(struct process_entry){.pid = (uint32_t)getpid(), .id = 5, .code.python = &memory};
	ck_assert_int_eq(symbolizer_add(symbolizer, FILE_ID, OBJECT_ELF,
					open("/proc/self/exe", O_RDONLY | O_CLOEXEC)),
			 0);
	ck_assert_int_eq(symbolizer_add_python(symbolizer, MEMORY_ID,
					       open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
					       &interpreter.layout, interpreter.code_type),
			 0);
	space = space_new(&all);
	ck_assert_int_eq(space_map(&space, &m), 0);
	process.space = space;
}

static void end(void)
{
	intern_free(interning);
	space_drop(space);
	objects_free(objects);
	opener_free(opener);
	symbolizer_free(symbolizer);
}

static uint64_t asked(void)
{
	return symbolizer_stats(symbolizer)->requested;
}

static uint64_t python(uint64_t code)
{
	return (uint64_t)WIRE_TAG_PYTHON_ENTRY << WIRE_TAG_SHIFT | code;
}

/* Make the stack of a loop, called by another function, that runs one Python frame. */
static struct raw_stack one_frame(uint64_t code, uint32_t id, uint32_t unit)
{
	static uint64_t words[4];

	words[0] = LOOP;
	words[1] = OTHER + 1;
	words[2] = python(code);
	words[3] = PYTHON_PLACE(id, unit);
	return (struct raw_stack){
		.space = space,
		.process = &process,
		.words = words,
		.user = 2,
		.python = 2,
	};
}

static uint64_t stack_of(const struct raw_stack *raw, bool expected)
{
	struct error err = {0};
	uint64_t stack = 0;
	bool loops = !expected;

	ck_assert_msg(!intern_stack(interning, raw, &stack, &loops, &err), "%s", err.text);
	ck_assert_int_eq(loops, expected);
	return stack;
}

/* Return the frame.id of a stack's leaf. */
static uint64_t leaf(uint64_t stack)
{
	return kept.stacks[stack].frame;
}

static void answer(uint64_t object, uint64_t address, uint64_t place, const char *name,
		   const char *source, uint32_t first_line, uint32_t line)
{
	const struct symbol s = {
		.name = name,
		.system_name = "",
		.start = address,
		.flags = *name ? SYMBOL_FOUND : 0,
		.place = place,
		.file = source,
		.first_line = first_line,
		.line = line,
	};

	intern_handle_symbol(interning, object, address, &s);
}

static void put_what_waits(bool last)
{
	ck_assert_int_eq(intern_tick(interning, last, NULL), 0);
}

START_TEST(python_frames_follow_their_loop)
{
	struct raw_stack raw;
	uint64_t stack, loop, other;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	stack = stack_of(&raw, true);
	put_what_waits(false);
	ck_assert_uint_eq(kept.stack_count, 3);
	ck_assert_int_eq(kept.frames[leaf(stack)].kind, FRAME_PYTHON);
	ck_assert_uint_eq(kept.frames[leaf(stack)].mapping, MEMORY_ID);
	ck_assert_uint_eq(kept.frames[leaf(stack)].address, 0x7f0000);
	ck_assert(memory.sampled);
	loop = kept.stacks[stack].parent;
	ck_assert_int_eq(kept.frames[leaf(loop)].kind, FRAME_NATIVE);
	ck_assert_uint_eq(kept.frames[leaf(loop)].mapping, FILE_ID);
	ck_assert_uint_eq(kept.frames[leaf(loop)].address, 0x1100);
	ck_assert_uint_eq(kept.frames[leaf(loop)].flags, FRAME_FLAG_INTERPRETER);
	other = kept.stacks[loop].parent;
	ck_assert_uint_eq(kept.frames[leaf(other)].flags, 0);
	ck_assert_uint_eq(kept.stacks[other].parent, 0);
	ck_assert_uint_eq(asked(), 3);
	ck_assert_uint_eq(stack_of(&raw, true), stack);
	ck_assert_uint_eq(kept.stack_count, 3);
	ck_assert_uint_eq(asked(), 3);
	raw.user = 0;
	raw.words += 2;
	stack_of(&raw, false);
	end();
}
END_TEST

START_TEST(a_loop_is_one_with_and_without_its_name)
{
	struct raw_stack raw;
	uint64_t loop;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	loop = leaf(kept.stacks[stack_of(&raw, true)].parent);
	answer(FILE_ID, 0x1100, 0, "_PyEval_EvalFrameDefault", "", 0, 0);
	ck_assert_uint_eq(kept.frames[loop].flags, FRAME_FLAG_INTERPRETER | FRAME_FLAG_LOOKED_UP);
	ck_assert_str_eq(kept.names[kept.frames[loop].function], "_PyEval_EvalFrameDefault");
	end();
}
END_TEST

START_TEST(places_of_one_code_object_share_its_function)
{
	struct raw_stack raw;
	uint64_t first, second;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	first = leaf(stack_of(&raw, true));
	raw = one_frame(0x7f0000, 77, 9);
	second = leaf(stack_of(&raw, true));
	ck_assert_uint_ne(first, second);
	answer(MEMORY_ID, 0x7f0000, PYTHON_PLACE(77, 9), "A.f", "/a.py", 10, 19);
	ck_assert_uint_eq(kept.frames[first].id, 0); /* the frame is put when its name is known */
	answer(MEMORY_ID, 0x7f0000, PYTHON_PLACE(77, 3), "A.f", "/a.py", 10, 13);
	ck_assert_uint_eq(kept.frames[first].line, 13);
	ck_assert_uint_eq(kept.frames[second].line, 19);
	ck_assert_uint_eq(kept.frames[first].flags, FRAME_FLAG_LOOKED_UP);
	ck_assert_uint_eq(kept.frames[first].function, kept.frames[second].function);
	ck_assert_uint_eq(kept.function_count, 1);
	ck_assert_str_eq(kept.names[1], "A.f");
	ck_assert_str_eq(kept.files[1], "/a.py");
	ck_assert_uint_eq(kept.functions[1].line, 10);
	ck_assert_uint_eq(kept.functions[1].mapping, MEMORY_ID);
	end();
}
END_TEST

/* The code of a module's body is freed when it has run; other code may get the same address. */
START_TEST(code_at_the_same_address_is_another_function)
{
	static const char *const sources[] = {"/a.py", "/b.py", "/b.py"};
	struct raw_stack raw;
	uint64_t frames[3];

	begin();
	for (uint32_t i = 0; i < 3; i++) {
		raw = one_frame(0x7f0000, i, 3);
		frames[i] = leaf(stack_of(&raw, true));
		answer(MEMORY_ID, 0x7f0000, PYTHON_PLACE(i, 3), "<module>", sources[i], 1, 4);
	}
	ck_assert_uint_ne(kept.frames[frames[0]].function, kept.frames[frames[1]].function);
	ck_assert_uint_eq(kept.frames[frames[1]].function, kept.frames[frames[2]].function);
	ck_assert_uint_eq(kept.function_count, 2);
	end();
}
END_TEST

START_TEST(stale_code_has_no_name)
{
	struct raw_stack raw;
	uint64_t frame;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	frame = leaf(stack_of(&raw, true));
	answer(MEMORY_ID, 0x7f0000, PYTHON_PLACE(77, 3), "", "", 0, 0);
	ck_assert_uint_eq(kept.frames[frame].function, 0);
	ck_assert_uint_eq(kept.frames[frame].flags, FRAME_FLAG_LOOKED_UP);
	/* Later replies do not give the frame a name. */
	answer(MEMORY_ID, 0x7f0000, PYTHON_PLACE(77, 3), "f", "/a.py", 1, 2);
	ck_assert_uint_eq(kept.frames[frame].function, 0);
	end();
}
END_TEST

/* The contents of a file become known while samples come: earlier frames keep their names. */
START_TEST(an_interpreter_that_becomes_known)
{
	struct raw_stack raw;
	uint64_t before, after;

	begin();
	file.python.file = NULL;
	raw = one_frame(0x7f0000, 77, 3);
	raw.python = 0;
	before = leaf(stack_of(&raw, false));
	file.python.file = &interpreter;
	intern_object_updated(interning, &file, true);
	after = leaf(stack_of(&raw, true));
	ck_assert_uint_ne(before, after);
	answer(FILE_ID, 0x1100, 0, "loop", "", 0, 0);
	ck_assert_uint_ne(kept.frames[before].function, 0);
	ck_assert_uint_eq(kept.frames[before].function, kept.frames[after].function);
	ck_assert_uint_eq(kept.frames[before].flags, FRAME_FLAG_LOOKED_UP);
	ck_assert_uint_eq(kept.frames[after].flags, FRAME_FLAG_LOOKED_UP | FRAME_FLAG_INTERPRETER);
	end();
}
END_TEST

/* Forked processes share an address space until one of them changes it, but not their memory. */
START_TEST(code_of_another_process_is_other_code)
{
	struct object other_memory = memory;
	struct process_entry other;
	struct raw_stack raw;
	uint64_t mine, others;

	begin();
	other_memory = known(MEMORY_ID + 1, MAPPING_PYTHON);
	other_memory.state = OBJECT_OPENING;
	other = process;
	other.id = 6;
	other.code.python = &other_memory;
	raw = one_frame(0x7f0000, 77, 3);
	mine = stack_of(&raw, true);
	raw.process = &other;
	others = stack_of(&raw, true);
	put_what_waits(true);
	ck_assert_uint_ne(mine, others);
	ck_assert_uint_eq(kept.frames[leaf(mine)].mapping, MEMORY_ID);
	ck_assert_uint_eq(kept.frames[leaf(others)].mapping, MEMORY_ID + 1);
	ck_assert_uint_eq(kept.stacks[mine].parent, kept.stacks[others].parent);
	raw.python = 0;
	mine = stack_of(&raw, true);
	raw.process = &process;
	ck_assert_uint_eq(stack_of(&raw, true), mine);
	end();
}
END_TEST

START_TEST(frames_without_a_process_or_its_memory_are_kept)
{
	struct raw_stack raw;
	uint64_t frame;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	raw.process = NULL;
	frame = leaf(stack_of(&raw, true));
	ck_assert_int_eq(kept.frames[frame].kind, FRAME_PYTHON);
	ck_assert_uint_eq(kept.frames[frame].mapping, 0);
	ck_assert_uint_eq(kept.frames[frame].address, 0x7f0000);
	memory.state = OBJECT_UNREADABLE;
	raw.process = &process;
	frame = leaf(stack_of(&raw, true));
	ck_assert_int_eq(kept.frames[frame].kind, FRAME_PYTHON);
	ck_assert_uint_eq(kept.frames[frame].mapping, MEMORY_ID);
	ck_assert_uint_eq(kept.frames[frame].function, 0);
	end();
}
END_TEST

START_TEST(memory_that_is_opened_late)
{
	struct raw_stack raw;
	uint64_t frame, before;

	begin();
	memory.state = OBJECT_OPENING;
	raw = one_frame(0x7f0000, 77, 3);
	frame = leaf(stack_of(&raw, true));
	before = asked();
	intern_take_urgent(interning);
	memory.state = OBJECT_KNOWN;
	intern_object_updated(interning, &memory, false);
	ck_assert_uint_eq(asked(), before + 1);
	ck_assert(intern_take_urgent(interning));
	answer(MEMORY_ID, 0x7f0000, PYTHON_PLACE(77, 3), "f", "/a.py", 1, 2);
	ck_assert_uint_ne(kept.frames[frame].function, 0);
	memory.state = OBJECT_OPENING;
	raw = one_frame(0x7f1000, 78, 3);
	frame = leaf(stack_of(&raw, true));
	memory.state = OBJECT_UNREADABLE;
	intern_object_updated(interning, &memory, false);
	ck_assert_uint_eq(kept.frames[frame].id, frame);
	ck_assert_uint_eq(kept.frames[frame].function, 0);
	end();
}
END_TEST

START_TEST(names_are_asked_for_early_and_once)
{
	struct raw_stack raw;
	uint64_t before;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, raw.words + 2, 2), 0);
	ck_assert_uint_eq(asked(), 1);
	ck_assert(intern_take_urgent(interning));
	ck_assert(!intern_take_urgent(interning));
	ck_assert_uint_eq(kept.frame_count, 0);
	raw = one_frame(0x7f0000, 77, 9); /* of the same code, at another instruction */
	ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, raw.words + 2, 2), 0);
	ck_assert_uint_eq(asked(), 1);
	raw = one_frame(0x7f0000, 78, 9); /* of other code at the same address */
	ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, raw.words + 2, 2), 0);
	ck_assert_uint_eq(asked(), 2);
	/* a reply for which no frame waits */
	answer(MEMORY_ID, 0x7f0000, PYTHON_PLACE(77, 3), "f", "/a.py", 1, 2);
	ck_assert_uint_eq(kept.frame_count, 0);
	before = asked();
	stack_of(&raw, true);
	ck_assert_uint_eq(asked(), before + 3);
	end();
}
END_TEST

START_TEST(what_is_foreseen_waits_for_the_memory)
{
	uint64_t words[2 * MOST];

	begin();
	memory.state = OBJECT_OPENING;
	for (uint32_t i = 0; i < MOST; i++) {
		words[2 * i] = python(0x7f0000 + 16 * (i % 8));
		words[2 * i + 1] = PYTHON_PLACE(77, i);
	}
	words[14] = (uint64_t)WIRE_TAG_PYTHON_SHIM << WIRE_TAG_SHIFT;
	ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, words, 16), 0);
	/* half a frame */
	ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, words, 15), 0);
	ck_assert_uint_eq(asked(), 0);
	intern_object_updated(interning, &file, false); /* another object */
	intern_object_updated(interning, &memory, false);
	ck_assert_uint_eq(asked(), 0);
	memory.state = OBJECT_KNOWN;
	intern_object_updated(interning, &memory, false);
	ck_assert_uint_eq(asked(), 7);
	intern_object_updated(interning, &memory, false);
	ck_assert_uint_eq(asked(), 7);
	memory.state = OBJECT_UNREADABLE;
	words[1] = PYTHON_PLACE(78, 0);
	ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, words, 2), 0);
	ck_assert_uint_eq(asked(), 7);
	end();
}
END_TEST

START_TEST(too_much_is_foreseen)
{
	uint64_t words[2];

	begin();
	memory.state = OBJECT_OPENING;
	for (uint32_t i = 0; i < 10000; i++) {
		words[0] = python(0x7f0000 + 16 * i);
		words[1] = PYTHON_PLACE(i, 0);
		ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, words, 2), 0);
	}
	memory.state = OBJECT_KNOWN;
	intern_object_updated(interning, &memory, false);
	ck_assert_uint_gt(asked(), 1000);
	ck_assert_uint_lt(asked(), 10000);
	end();
}
END_TEST

START_TEST(the_memory_is_made_when_it_is_first_met)
{
	struct raw_stack raw;
	uint64_t frame;

	begin();
	process.code.python = NULL;
	process.id = 0; /* no sample has had the process yet */
	raw = one_frame(0x7f0000, 77, 3);
	ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, raw.words + 2, 2), 0);
	ck_assert_ptr_nonnull(process.code.python);
	ck_assert_int_eq(process.code.python->kind, MAPPING_PYTHON);
	ck_assert_int_eq(process.code.python->state, OBJECT_OPENING);
	ck_assert_uint_eq(process.code.python->users, 1);
	/* The address of its symbol is converted from the file to the process. */
	ck_assert_uint_eq(process.code.python->python.code_type,
			  0x90000 + MAPPED - 0x1000 - 0x70000);
	process.id = 5;
	frame = leaf(stack_of(&raw, true));
	put_what_waits(true);
	ck_assert_uint_eq(process.code.python->mapped.process, 5);
	ck_assert_uint_eq(kept.frames[frame].mapping, process.code.python->id);
	/*
	 * A process without an interpreter has no such object, and its frames are kept without it.
	 */
	file.python.layout = 0;
	process.code.python = NULL;
	process.id = 7;
	ck_assert_int_eq(intern_prefetch(interning, process.pid, &process, raw.words + 2, 2), 0);
	ck_assert_ptr_null(process.code.python);
	ck_assert_uint_eq(kept.frames[leaf(stack_of(&raw, true))].mapping, 0);
	end();
}
END_TEST

/* The same words are another stack if one of the walks was not complete. */
START_TEST(ends_tell_stacks_apart)
{
	struct raw_stack raw;
	uint64_t complete, broken;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	complete = stack_of(&raw, true);
	raw.python_end = END_UNREADABLE;
	broken = stack_of(&raw, true);
	ck_assert_uint_ne(complete, broken);
	ck_assert_uint_eq(leaf(complete), leaf(broken));
	while (kept.stacks[broken].parent)
		broken = kept.stacks[broken].parent;
	ck_assert_int_eq(kept.frames[leaf(broken)].kind, FRAME_END);
	ck_assert_uint_eq(kept.frames[leaf(broken)].address, END_PYTHON);
	end();
}
END_TEST

/* The same words are another stack if one of them belongs to another part. */
START_TEST(parts_tell_stacks_apart)
{
	struct raw_stack raw;
	uint64_t kernel, user, none;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	user = stack_of(&raw, true);
	raw.kernel = 1;
	raw.user = 1;
	kernel = stack_of(&raw, false);
	raw.kernel = 0;
	raw.user = 4;
	raw.python = 0;
	none = stack_of(&raw, true);
	ck_assert_uint_ne(user, kernel);
	ck_assert_uint_ne(user, none);
	ck_assert_uint_ne(kernel, none);
	end();
}
END_TEST

/* A process can choose the addresses and the contents of its code objects. */
START_TEST(kinds_tell_frames_apart)
{
	const uint64_t native[] = {LOOP + 8, LOOP + 1, python(1), 1};
	const uint64_t mixed[] = {LOOP, python(LOOP + 8), 0};
	struct raw_stack raw;

	begin();
	raw = one_frame(0, 0, 0);
	raw.words = native;
	stack_of(&raw, true);
	raw.words = mixed;
	raw.user = 1;
	stack_of(&raw, true);
	put_what_waits(false);
	ck_assert_int_eq(kept.frames[leaf(stack_of(&raw, true))].kind, FRAME_PYTHON);
	end();
}
END_TEST

/* Make a stack of native frames of the file, innermost first, with its process and space. */
static struct raw_stack calls(const uint64_t *words, unsigned int count)
{
	return (struct raw_stack){
		.space = space,
		.process = &process,
		.words = words,
		.user = (uint16_t)count,
	};
}

/*
 * The stacks are longer than what is prefetched at once and have one context, so each follows the
 * path of the other.
 */
START_TEST(stacks_share_the_callers_that_they_share)
{
	uint64_t words[40], other[40], shorter[39], first, second;
	struct raw_stack raw;

	begin();
	for (unsigned int i = 0; i < 40; i++)
		words[i] = MAPPED + 0x400 + 4 * i;
	memcpy(other, words, sizeof(other));
	memcpy(shorter, words + 1, sizeof(shorter));
	other[0] = other[1] = OTHER;
	raw = calls(words, 40);
	first = stack_of(&raw, false);
	ck_assert_uint_eq(kept.stack_count, 40);
	raw = calls(other, 40);
	second = stack_of(&raw, false);
	ck_assert_uint_eq(kept.stack_count, 42);
	ck_assert_uint_eq(kept.stacks[kept.stacks[first].parent].parent,
			  kept.stacks[kept.stacks[second].parent].parent);
	raw = calls(words, 40);
	ck_assert_uint_eq(stack_of(&raw, false), first);
	/*
	 * A caller is looked up one byte before its return address, but the leaf is looked up where
	 * it is, so the new leaf is another frame.
	 */
	raw = calls(shorter, 39);
	ck_assert_uint_eq(kept.stacks[stack_of(&raw, false)].parent,
			  kept.stacks[kept.stacks[first].parent].parent);
	ck_assert_uint_eq(kept.stack_count, 43);
	end();
}
END_TEST

/* The same file at another address is the same code. */
START_TEST(stacks_of_one_file_are_one_wherever_it_is_mapped)
{
	const struct space_mapping again = {MAPPED + 0x10000, MAPPED + 0x11000, 0x1000, &file};
	uint64_t words[] = {OTHER, OTHER + 0x20, OTHER + 0x40}, moved[3], first;
	struct raw_stack raw;

	begin();
	raw = calls(words, 3);
	first = stack_of(&raw, false);
	ck_assert_int_eq(space_map(&space, &again), 0);
	process.space = space;
	for (unsigned int i = 0; i < 3; i++)
		moved[i] = words[i] + 0x10000;
	raw = calls(moved, 3);
	ck_assert_uint_eq(stack_of(&raw, false), first);
	raw = calls(words, 3);
	ck_assert_uint_eq(stack_of(&raw, false), first);
	/*
	 * If the file turns out to be another one, its frames are other frames, in the same space.
	 */
	file.pass++;
	intern_object_updated(interning, &file, true);
	raw = calls(words, 3);
	ck_assert_uint_ne(stack_of(&raw, false), first);
	end();
}
END_TEST

START_TEST(everything_is_met_anew_after_forgetting)
{
	struct raw_stack raw;
	uint64_t before, after;

	begin();
	raw = one_frame(0x7f0000, 77, 3);
	before = stack_of(&raw, true);
	intern_forget(interning);
	after = stack_of(&raw, true);
	ck_assert_uint_gt(after, before);
	ck_assert_uint_eq(kept.stack_count, 6);
	answer(MEMORY_ID, 0x7f0000, PYTHON_PLACE(77, 3), "f", "/a.py", 1, 2);
	ck_assert_uint_ne(kept.frames[leaf(after)].function, 0);
	end();
}
END_TEST

SUITE("intern", python_frames_follow_their_loop, a_loop_is_one_with_and_without_its_name,
      places_of_one_code_object_share_its_function, code_at_the_same_address_is_another_function,
      stale_code_has_no_name, an_interpreter_that_becomes_known,
      code_of_another_process_is_other_code, frames_without_a_process_or_its_memory_are_kept,
      memory_that_is_opened_late, names_are_asked_for_early_and_once,
      what_is_foreseen_waits_for_the_memory, too_much_is_foreseen,
      the_memory_is_made_when_it_is_first_met, ends_tell_stacks_apart, parts_tell_stacks_apart,
      kinds_tell_frames_apart, stacks_share_the_callers_that_they_share,
      stacks_of_one_file_are_one_wherever_it_is_mapped, everything_is_met_anew_after_forgetting)
