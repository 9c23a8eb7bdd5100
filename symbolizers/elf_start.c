// SPDX-License-Identifier: Apache-2.0
/*
 * Find the functions in which threads begin, by their names or by the file's entry point. A stack
 * is complete if its outermost frame is in such a function.
 */
#include <string.h>

#include "symbolizers/elf.h"

/*
 * Assumed size of the function at an entry point without a symbol, in bytes: crt1's _start has 34
 * to 56.
 */
#define ENTRY_SIZE 64
#define STARTS_MAX 64

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
