// SPDX-License-Identifier: Apache-2.0
/*
 * Find the functions in which threads begin, by their names, by the file's entry point, or, in a C
 * library that describes no function, by their code. A stack is complete if its outermost frame is
 * in such a function.
 */
#include <errno.h>
#include <string.h>

#include "symbolizers/elf.h"
#include "symbolizers/unwind/code.h"

/*
 * Assumed size of the function at an entry point without a symbol, in bytes: crt1's _start has 34
 * to 56.
 */
#define ENTRY_SIZE 64
#define STARTS_MAX 64
/*
 * Maximum bytes of code that are searched in each segment of a file: musl has 0.4 MiB, programs
 * linked with musl some more.
 */
#define CODE_SEARCHED_MAX (64u << 20)

static const char *const start_names[] = {
	"_start",   "_dl_start_user",	"clone",	"clone3", "__clone",
	"__clone3", "__clone_internal", "thread_start",
};

/*
 * Functions of Go's runtime that have no caller: threads begin in them, or they leave one stack for
 * good (symbolizers/unwind/go.c). All of these names are shorter than GO_NAME_MAX.
 */
#define GO_NAME_MAX 64
static const char *const go_start_names[] = {
	"runtime.rt0_go",    "runtime.goexit", "runtime.mstart", "runtime.mcall",
	"runtime.morestack", "runtime.gogo",   "runtime.clone",	 "gogo",
};

static bool is_go_start(const char *name)
{
	size_t length = strnlen(name, GO_NAME_MAX);

	/* Go's linker appends ".abi0", a calling convention, to the names of assembly functions. */
	if (length > 5 && strcmp(name + length - 5, ".abi0") == 0)
		length -= 5;
	for (size_t i = 0; i < sizeof(go_start_names) / sizeof(*go_start_names); i++) {
		if (strlen(go_start_names[i]) == length &&
		    memcmp(name, go_start_names[i], length) == 0)
			return true;
	}
	/*
	 * Each operating system has its own entry point, such as _rt0_amd64_linux. The entry points
	 * of Go libraries (_rt0_amd64_linux_lib) do not count, since C code calls them.
	 */
	return strncmp(name, "_rt0_", 5) == 0 && !memmem(name, length, "_lib", 4);
}

bool elf_name_is_start(const char *name)
{
	if (!strchr("_ctrg", name[0]) || !name[0])
		return false;
	for (size_t i = 0; i < sizeof(start_names) / sizeof(*start_names); i++) {
		if (strcmp(name, start_names[i]) == 0)
			return true;
	}
	return is_go_start(name);
}

int elf_add_start(struct elf *e, uint64_t start, uint64_t end)
{
	if (end <= start || e->starts.count >= STARTS_MAX)
		return 0;
	return vector_push(&e->starts, ((struct elf_extent){start, end}));
}

static bool is_linker_name(const struct elf_image *image, uint64_t strings, uint64_t name)
{
	GElf_Shdr dynstr;
	char buf[3];

	return elf_section_typed(image, SHT_DYNSYM, &dynstr) &&
	       elf_section(image, dynstr.sh_link, &dynstr) && dynstr.sh_addr == strings &&
	       name < dynstr.sh_size && dynstr.sh_size - name > sizeof(buf) &&
	       elf_image_read(image, dynstr.sh_offset + name, buf, sizeof(buf)) == 0 &&
	       (memcmp(buf, "ld-", 3) == 0 || memcmp(buf, "ld.", 3) == 0);
}

/*
 * Return whether execution begins at the entry point of a file that is not ET_EXEC and has no
 * PT_INTERP: yes for a static position-independent program, which has the flag DF_1_PIE, and for
 * glibc's dynamic linker, whose DT_SONAME begins with "ld-" or "ld.". Older linkers gave every
 * shared library an entry point, the start of .text, at which nothing begins.
 */
static bool library_runs(const struct elf_image *image)
{
	uint64_t strings = 0, name, flags;

	if (elf_dynamic(image, DT_FLAGS_1, &flags) && (flags & DF_1_PIE))
		return true;
	return elf_dynamic(image, DT_SONAME, &name) && elf_dynamic(image, DT_STRTAB, &strings) &&
	       is_linker_name(image, strings, name);
}

bool elf_has_entry(const struct elf_image *image)
{
	size_t count;
	bool runs = image->header.e_type == ET_EXEC;
	GElf_Phdr p;

	if (!image->header.e_entry || elf_getphdrnum(image->elf, &count) < 0)
		return false;
	for (size_t i = 0; !runs && i < count && gelf_getphdr(image->elf, (int)i, &p); i++)
		runs = p.p_type == PT_INTERP || (p.p_type == PT_DYNAMIC && library_runs(image));
	return runs;
}

int elf_add_entry(struct elf *e, const struct elf_image *image)
{
	uint64_t entry = image->header.e_entry;
	struct found_symbol f;

	if (!elf_has_entry(image))
		return 0;
	if (symtab_find(&e->symbols, entry, &f))
		return elf_add_start(e, f.start, f.start + f.size);
	return elf_add_start(e, entry,
			     entry > UINT64_MAX - ENTRY_SIZE ? entry : entry + ENTRY_SIZE);
}

/* Return whether code in which a stack begins is at the entry point. */
static bool entry_begins_stack(const struct unwind_source *s)
{
	uint64_t at;
	uint8_t code[4];

	return s->image->header.e_entry &&
	       unwind_source_offset(s, s->image->header.e_entry, &at, NULL) &&
	       !unwind_source_read(s, at, code, sizeof(code)) &&
	       unwind_code_begins_stack(unwind_source_machine(s), code);
}

/* Add the code at an address that was found, as far as threads begin in it. */
static int add_found_start(struct elf *e, uint64_t address, const struct unwind_found *f)
{
	if (f->kind == UNWIND_FOUND_RESTORER)
		return 0;
	return elf_add_start(e, address + f->at + f->child, address + f->at + f->end);
}

static int search_segment(struct elf *e, const struct unwind_source *s,
			  const struct unwind_segment *in)
{
	uint64_t most = in->size < CODE_SEARCHED_MAX ? in->size : CODE_SEARCHED_MAX;
	uint8_t code[1 << 16];
	int ret = 0;

	for (uint64_t at = 0; !ret && at < most;) {
		size_t size = most - at < sizeof(code) ? most - at : sizeof(code), count;
		struct unwind_found found[8];

		if (unwind_source_read(s, in->offset + at, code, size))
			return 0;
		count = unwind_code_search(unwind_source_machine(s), code, size, found, 8);
		for (size_t i = 0; !ret && i < count; i++)
			ret = add_found_start(e, in->address + at, &found[i]);
		heartbeat_send(s->image->heartbeat);
		/* Blocks overlap, so that a pattern across the end of one is whole in the next. */
		at += size < most - at ? size - UNWIND_CODE_PATTERN_MAX : size;
	}
	return ret;
}

int elf_add_code_starts(struct elf *e, struct elf_image *image)
{
	struct unwind_source s;
	int ret = unwind_source_open(&s, image);

	if (!ret && !e->entry_described && entry_begins_stack(&s)) {
		for (size_t i = 0; !ret && i < s.segments.count; i++)
			ret = search_segment(e, &s, &s.segments.items[i]);
	}
	unwind_source_free(&s);
	return ret == -ENOMEM ? ret : 0;
}
