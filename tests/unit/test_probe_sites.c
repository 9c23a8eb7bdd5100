// SPDX-License-Identifier: Apache-2.0
/* Find sites of probes in files that the assembler makes in the test, hostile ones included. */
#include <errno.h>
#include <stdio.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/heartbeat.h"
#include "symbolizers/probe_sites.h"

/* A note of an address, with its counter, provider, name and arguments. */
#define NOTE(address, counter, provider, name, arguments) \
	".pushsection .note.stapsdt, \"\", \"note\"\n .balign 4\n" \
	" .4byte 8, 9f-8f, 3\n .asciz \"stapsdt\"\n" \
	"8: .8byte " address ", _.stapsdt.base, " counter "\n" \
	" .asciz \"" provider "\"\n .asciz \"" name "\"\n .asciz \"" arguments "\"\n" \
	"9: .balign 4\n.popsection\n"

#define FUNCTION(name, code) \
	".type " name ", @function\n" name ":\n" code ".size " name ", . - " name "\n"

static const char head[] = ".section .stapsdt.base, \"a\"\n_.stapsdt.base: .space 1\n"
			   ".data\ncounter: .2byte 0\n shared: .4byte 0\n.text\n";

static struct probe_sites found;

static int find(const struct probe_wanted *w)
{
	int fd = file_open("lib.so"), ret = probe_sites_find(&found, w, fd, NULL);

	close(fd);
	return ret;
}

static void assemble(const char *code)
{
	FILE *f;

	files_begin();
	f = fopen("lib.s", "we");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s%s", head, code);
	fclose(f);
	shell("gcc -shared -nostdlib -o lib.so lib.s");
}

static const struct probe_pattern all[] = {
	{.origin = PROBE_NOTE, .provider = "*", .name = "*"},
	{.origin = PROBE_FUNCTION, .name = "f_*"},
	{.origin = PROBE_RETURN, .name = "f_*"},
};

static const struct probe_wanted wanted = {.patterns = all, .count = 3, .mask = 7};

/* Return the only site of a pattern with that label. */
static const struct probe_site *site(unsigned int pattern, const char *label)
{
	const struct probe_site *one = NULL;

	for (uint32_t i = 0; i < found.count; i++) {
		const struct probe_site *s = &found.sites[i];

		if (s->row != probe_row_count + pattern || strcmp(s->label, label) != 0)
			continue;
		ck_assert_msg(!one, "%s twice", label);
		one = s;
	}
	ck_assert_msg(one != NULL, "%s", label);
	return one;
}

static unsigned int count_of(unsigned int pattern, const char *label)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < found.count; i++)
		count += found.sites[i].row == probe_row_count + pattern &&
			 !strcmp(found.sites[i].label, label) && !found.sites[i].refused;
	return count;
}

START_TEST(notes_become_sites_with_file_offsets_and_counters)
{
	const struct probe_site *s;

	assemble("here: nop\n" NOTE(
		"here", "counter", "app", "step",
		"-4@%eax 4@shared(%rip)") "there: nop\n" NOTE("there", "0", "app", "done", ""));
	ck_assert_int_eq(find(&wanted), 0);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(found.malformed, 0);
	s = site(0, "app:step");
	ck_assert_int_eq(s->refused, PROBE_REFUSED_NONE);
	ck_assert_int_eq(s->instruction, PROBE_INSTRUCTION_NOP);
	ck_assert_uint_ne(s->semaphore, 0);
	ck_assert_uint_eq(s->count, 2);
	ck_assert_int_eq(s->operands[1].kind, PROBE_OPERAND_MEMORY);
	ck_assert_uint_eq(site(0, "app:done")->offset, s->offset + 1);
	ck_assert_uint_eq(site(0, "app:done")->semaphore, 0);
	ck_assert(probe_sites_check(&found, 1 << 20, 3));
}
END_TEST

/* A note of the provider app, and the code before it. */
struct made_note {
	const char *code, *address, *counter, *name;
};

static void assemble_notes(const struct made_note *notes, size_t count)
{
	char text[8192];
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s\n" NOTE("%s", "%s", "app", "%s", ""), notes[i].code,
					 notes[i].address, notes[i].counter, notes[i].name);
	ck_assert_uint_lt(used, sizeof(text));
	assemble(text);
}

START_TEST(a_note_may_be_unsafe_to_attach_to)
{
	static const struct made_note notes[] = {
		{"five: .byte 0x0f, 0x1f, 0x44, 0, 0", "five", "0", "five"},
		{"trap: int3", "trap", "0", "trap"},
		{"good: mov $0x90909090, %eax", "good", "0", "good"},
		{"", "good + 2", "0", "inside"},
		{"", "good", "counter", "counted"},
		{"", "counter", "0", "data"},
		{"", "0", "0", "zero"},
		{"", "0x7fffffffffffffff", "0", "far"},
		{"nop1: nop", "nop1", "nop1", "counter in code"},
		{"nop2: nop", "nop2", "counter + 1", "odd counter"},
		{"nop3: nop", "nop3", "0x7ffffffffffffffe", "far counter"},
	};

	assemble_notes(notes, sizeof(notes) / sizeof(*notes));
	ck_assert_int_eq(find(&wanted), 0);
	ck_assert_int_eq(site(0, "app:five")->refused, PROBE_REFUSED_NOP5);
	ck_assert_int_eq(site(0, "app:trap")->refused, PROBE_REFUSED_CODE);
	/* of two at one instruction with different counters, the kernel takes one */
	ck_assert_int_ne(!site(0, "app:good")->refused, !site(0, "app:counted")->refused);
	ck_assert_int_eq(site(0, "app:inside")->refused, PROBE_REFUSED_OVERLAPS);
	ck_assert_int_eq(site(0, "app:data")->refused, PROBE_REFUSED_OUTSIDE);
	ck_assert_int_eq(site(0, "app:zero")->refused, PROBE_REFUSED_OUTSIDE);
	ck_assert_int_eq(site(0, "app:far")->refused, PROBE_REFUSED_OUTSIDE);
	ck_assert_int_eq(site(0, "app:counter in code")->refused, PROBE_REFUSED_SEMAPHORE);
	ck_assert_int_eq(site(0, "app:odd counter")->refused, PROBE_REFUSED_SEMAPHORE);
	ck_assert_int_eq(site(0, "app:far counter")->refused, PROBE_REFUSED_SEMAPHORE);
	ck_assert(probe_sites_check(&found, 1 << 20, 3));
}
END_TEST

START_TEST(damaged_notes_are_counted_and_end_the_search)
{
	static const char *const damaged[] = {
		".4byte 8, 0xffffffff, 3\n.asciz \"stapsdt\"\n", /* longer than the section */
		".4byte 0xffffffff, 8, 3\n",
		".4byte 8, 4, 3\n.asciz \"stapsdt\"\n.4byte 1\n", /* no room for addresses */
		/* no NUL */
		".4byte 8, 28, 3\n.asciz \"stapsdt\"\n.8byte 1, 2, 3\n.ascii \"text\"\n",
		".4byte 8, 24, 7\n.asciz \"stapsdt\"\n.8byte 1, 2, 3\n", /* another type */
		".4byte 8, 24, 3\n.asciz \"other\\0\\0\"\n.8byte 1, 2, 3\n", /* another owner */
		".4byte 8\n.4byte 1\n.4byte 3\n", /* cut */
	};
	char code[512];

	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		snprintf(code, sizeof(code), ".section .note.stapsdt, \"\", \"note\"\n%s",
			 damaged[i]);
		assemble(code);
		ck_assert_int_eq(find(&wanted), 0);
		ck_assert_msg(!found.count && found.malformed == 1, "%s: %u, %u", damaged[i],
			      found.count, found.malformed);
		ck_assert_int_eq(chdir("/"), 0);
	}
}
END_TEST

START_TEST(functions_are_probed_at_their_entry_and_their_returns)
{
	assemble(
		FUNCTION("f_push", "push %rbp\n pop %rbp\n ret\n") FUNCTION(
			"f_endbr", "endbr64\n push %rbp\n pop %rbp\n ret\n")
			FUNCTION("f_five", ".byte 0x0f, 0x1f, 0x44, 0, 0\n ret\n") FUNCTION(
				"f_slow",
				"mov %rdi, %rax\n test %rax, %rax\n je 1f\n ret\n"
				"1: ret\n") FUNCTION("f_tail", "push %rbp\n pop %rbp\n .byte 0xe9\n"
							       " .4byte f_slow - . - 4\n")
				FUNCTION("f_split.part.0",
					 "push %rbp\n .byte 0x0f, 0x84\n"
					 " .4byte f_split.cold - . - 4\n2: pop %rbp\n ret\n")
					FUNCTION("f_split.cold", "pop %rbp\n ret\n jmp 2b\n")
						FUNCTION("f_bad", "push %rbp\n .byte 0x06, 0x06\n")
							FUNCTION("f_int3", "int3\n ret\n")
								FUNCTION("g_other", "ret\n"));
	ck_assert_int_eq(find(&wanted), 0);
	ck_assert_int_eq(site(1, "f_push")->instruction, PROBE_INSTRUCTION_PUSH);
	ck_assert_int_eq(site(1, "f_endbr")->instruction, PROBE_INSTRUCTION_PUSH);
	ck_assert_uint_eq(site(1, "f_endbr")->offset, site(1, "f_push")->offset + 3 + 4);
	/* at an entry, nothing uses the memory below the stack pointer */
	ck_assert_int_eq(site(1, "f_five")->refused, PROBE_REFUSED_NONE);
	ck_assert_int_eq(site(1, "f_five")->instruction, PROBE_INSTRUCTION_NOP5);
	ck_assert(probe_instruction_is_slow(site(1, "f_slow")->instruction));
	ck_assert_int_eq(site(1, "f_int3")->refused, PROBE_REFUSED_CODE);
	ck_assert_uint_eq(count_of(2, "f_push"), 1);
	ck_assert_uint_eq(count_of(2, "f_slow"), 2);
	ck_assert_uint_eq(count_of(2, "f_tail"), 1);
	/* the jump to the cold part does not leave the function, whose part has a return, too */
	ck_assert_uint_eq(count_of(1, "f_split"), 1);
	ck_assert_uint_eq(count_of(2, "f_split"), 2);
	ck_assert_int_eq(site(2, "f_bad")->refused, PROBE_REFUSED_RETURNS);
	ck_assert_uint_eq(count_of(1, "g_other"), 0);
}
END_TEST

START_TEST(rows_of_the_table_are_found_in_files_of_their_runtime)
{
	struct probe_wanted w = {.parts = PROBE_PART_GC, .runtime = PROBE_RUNTIME_PYTHON};

	assemble(NOTE("1f", "0", "python", "gc__start", "-4@%edi") "1: nop\n" NOTE(
		"2f", "0", "python", "gc__done",
		"") "2: nop\n" NOTE("3f", "0", "hotspot", "gc__end",
				    "") "3: nop\n" FUNCTION("collect.constprop.0",
							    "push %rbp\n pop %rbp\n ret\n"));
	ck_assert_int_eq(find(&w), 0);
	/* gc__done lacks its argument; its function is probed instead */
	ck_assert_uint_eq(found.count, 3);
	for (uint32_t i = 0; i < found.count; i++) {
		const struct probe_site *s = &found.sites[i];
		const struct probe_row *row = &probe_rows[s->row];

		if (!strcmp(row->name, "gc__done"))
			ck_assert_int_eq(s->refused, PROBE_REFUSED_ARGUMENTS);
		else if (row->origin == PROBE_NOTE)
			ck_assert_str_eq(row->name, "gc__start");
		else
			ck_assert_int_eq(row->meaning, PROBE_PYTHON_COLLECTION_END);
	}
	w.runtime = PROBE_RUNTIME_NONE;
	ck_assert_int_eq(find(&w), 0);
	ck_assert_uint_eq(found.count, 0);
	w.runtime = PROBE_RUNTIME_HOTSPOT;
	ck_assert_int_eq(find(&w), 0);
	ck_assert_uint_eq(found.count, 1);
}
END_TEST

START_TEST(methods_are_found_by_their_mangled_names)
{
	const struct probe_pattern patterns[] = {
		{.origin = PROBE_FUNCTION, .name = "GCTimer::register_gc_pause_start"}};
	const struct probe_wanted w = {.patterns = patterns, .count = 1, .mask = 1};

	assemble(FUNCTION("_ZN7GCTimer23register_gc_pause_startEPKc",
			  "ret\n") FUNCTION("_ZNK7GCTimer23register_gc_pause_startEv", "ret\n")
			 FUNCTION("_ZN7GCTimer24register_gc_pause_startsEv", "ret\n")
				 FUNCTION("_ZN3Sub7GCTimer23register_gc_pause_startEv", "ret\n"));
	ck_assert_int_eq(find(&w), 0);
	ck_assert_uint_eq(found.count, 2);
}
END_TEST

START_TEST(sites_beyond_the_bounds_are_counted)
{
	char code[65536];
	size_t used = 0;

	for (int i = 0; i < 100; i++)
		used += (size_t)snprintf(code + used, sizeof(code) - used,
					 NOTE("n%d", "0", "app", "n%d", "") "n%d: nop\n", i, i, i);
	assemble(code);
	ck_assert_int_eq(find(&wanted), 0);
	ck_assert_uint_eq(found.count, 64);
	ck_assert_uint_eq(found.dropped, 36);
}
END_TEST

START_TEST(what_is_no_program_has_no_sites)
{
	files_begin();
	file_write("lib.so", "\177ELF", 4);
	ck_assert_int_eq(find(&wanted), -EBADMSG);
	file_write("lib.so", "", 0);
	ck_assert_int_eq(find(&wanted), -EBADMSG);
	shell("echo 'int f_x(void) { return 1; }' > a.c && gcc -m32 -c -o lib.so a.c || "
	      "cp /bin/true lib.so");
	(void)find(&wanted);
	ck_assert(probe_sites_check(&found, 1 << 20, 3));
}
END_TEST

/* What an untrusted worker may send. */
START_TEST(a_list_of_sites_is_checked)
{
	const struct probe_site good = {
		.offset = 0x1000,
		.row = 1,
		.bytes = 1,
		.count = 1,
		.operands = {{.kind = PROBE_OPERAND_REGISTER,
			      .bytes = 8,
			      .base = 3,
			      .index = PROBE_NO_REGISTER}},
	};
	struct probe_sites *s = calloc(1, sizeof(*s));
	struct probe_site *one = &s->sites[0];

	s->count = 1;
	*one = good;
	ck_assert(probe_sites_check(s, 0x2000, 0));
#define REFUSED(change) \
	do { \
		*one = good; \
		change; \
		ck_assert_msg(!probe_sites_check(s, 0x2000, 1), #change); \
	} while (0)
	REFUSED(one->offset = 0x2000);
	REFUSED(one->offset = 0);
	REFUSED(one->semaphore = 0x2000);
	REFUSED(one->row = (uint16_t)(probe_row_count + 1));
	REFUSED(one->instruction = PROBE_INSTRUCTION_COUNT);
	REFUSED(one->refused = PROBE_REFUSAL_COUNT);
	REFUSED(one->count = PROBE_OPERANDS_MAX + 1);
	REFUSED(one->operands[0].kind = PROBE_OPERAND_KINDS);
	REFUSED(one->operands[0].bytes = 3);
	REFUSED(one->operands[0].base = PROBE_REGISTERS);
	REFUSED(one->operands[0].index = PROBE_REGISTERS);
	REFUSED(one->operands[0].shift = 64);
	REFUSED(one->operands[0].is_signed = 2);
	REFUSED(memset(one->label, 'a', sizeof(one->label)));
	*one = good;
	s->count = PROBE_SITES_MAX + 1;
	ck_assert(!probe_sites_check(s, 0x2000, 1));
	free(s);
}
END_TEST

SUITE("sites of probes", notes_become_sites_with_file_offsets_and_counters,
      a_note_may_be_unsafe_to_attach_to, damaged_notes_are_counted_and_end_the_search,
      functions_are_probed_at_their_entry_and_their_returns,
      rows_of_the_table_are_found_in_files_of_their_runtime,
      methods_are_found_by_their_mangled_names, sites_beyond_the_bounds_are_counted,
      what_is_no_program_has_no_sites, a_list_of_sites_is_checked)
