// SPDX-License-Identifier: Apache-2.0
/*
 * Determine which Python an ELF file contains, and whether all facts that are needed to read its
 * frames are known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/python_file_private.h"

#define OFFSETS_MAX 1024 /* bytes of struct _Py_DebugOffsets: 3.14's has 760 */
#define RUNTIME_MAX (1u << 20) /* bytes of _PyRuntime: 3.14's has 317 kB */
#define SEARCH_WORDS 1024 /* words read at a time */
#define SEARCH_MAX (64u << 20) /* bytes of a segment that are searched */

static const char cookie[8] = "xdebugpy";

const char *python_support_text(uint32_t support)
{
#define PYTHON_SUPPORT_TEXT(NAME, text) text,
	static const char *const texts[] = {PYTHON_SUPPORTS(PYTHON_SUPPORT_TEXT)};

	return support < PYTHON_SUPPORT_COUNT ? texts[support] : "?";
}

/*
 * Search the data of a segment for the cookie, with which _PyRuntime begins from 3.13 on, at
 * multiples of 8. Return the cookie's address, or 0.
 */
static uint64_t search_cookie(const struct elf_image *image, const GElf_Phdr *p)
{
	uint64_t size = p->p_filesz < SEARCH_MAX ? p->p_filesz : SEARCH_MAX;
	uint64_t words[SEARCH_WORDS];

	for (uint64_t at = 0; at < size; at += sizeof(words)) {
		size_t n = size - at < sizeof(words) ? (size_t)(size - at) : sizeof(words);

		if (elf_image_read(image, p->p_offset + at, words, n) < 0)
			return 0;
		for (size_t i = 0; i < n / 8; i++) {
			if (memcmp(&words[i], cookie, sizeof(cookie)) == 0)
				return p->p_vaddr + at + i * 8;
		}
	}
	return 0;
}

/*
 * Search all writable segments for _PyRuntime by its cookie; used if no symbol or section gives the
 * address of _PyRuntime. Return that address, or 0.
 */
static uint64_t search_runtime(const struct elf_image *image)
{
	uint64_t address = 0;
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(image->elf, &count) < 0)
		return 0;
	for (size_t i = 0; !address && i < count && gelf_getphdr(image->elf, (int)i, &p); i++) {
		if (p.p_type == PT_LOAD && (p.p_flags & PF_W) && p.p_offset <= image->size &&
		    p.p_filesz <= image->size - p.p_offset)
			address = search_cookie(image, &p);
	}
	return address;
}

static uint64_t find_runtime(const struct elf_image *image, const struct python_symbols *symbols)
{
	if (symbols->found[PYTHON_NAME_RUNTIME])
		return symbols->at[PYTHON_NAME_RUNTIME].start;
	return symbols->section ? symbols->section_address : search_runtime(image);
}

/*
 * Set l->text_shift, which the interpreter's own offsets do not give, by the str objects in the
 * file's _PyRuntime of size bytes. Return whether it was found.
 */
static bool find_text_shift(struct python_layout *l, const struct elf_image *image,
			    uint64_t runtime, uint64_t size)
{
	uint8_t *bytes = size <= RUNTIME_MAX ? malloc(size) : NULL;

	l->text_shift = 0;
	if (bytes && python_bytes_at(image, runtime, bytes, size))
		l->text_shift = python_text_shift(l, bytes, size);
	free(bytes);
	return l->text_shift;
}

/*
 * Make the layout from the interpreter's own offsets, if _PyRuntime begins with them. OFFSETS_MAX
 * bytes are read, more than the offsets have, so the last bytes are other data.
 */
static enum python_support read_own_layout(struct python_file *f, const struct elf_image *image)
{
	uint8_t bytes[OFFSETS_MAX];
	int rc;

	if (!python_bytes_at(image, f->runtime, bytes, sizeof(bytes)))
		return PYTHON_UNKNOWN;
	rc = python_layout_from_offsets(&f->layout, bytes, sizeof(bytes));
	if (rc == -ENOTSUP)
		return PYTHON_FREE_THREADED;
	if (rc || f->layout.version != PYTHON_VERSION(f->major, f->minor) ||
	    !find_text_shift(&f->layout, image, f->runtime, python_runtime_size(bytes)))
		return PYTHON_UNKNOWN;
	f->runtime_bytes = python_runtime_size(bytes);
	return PYTHON_READABLE;
}

static enum python_support choose_layout(struct python_file *f, const struct elf_image *image,
					 const struct python_version *version)
{
	const struct python_layout *known = python_layout_of(f->major, f->minor);

	if (version->free_threaded)
		return PYTHON_FREE_THREADED;
	if (!known)
		return read_own_layout(f, image);
	if (version->debug)
		return PYTHON_UNKNOWN;
	f->layout = *known;
	return PYTHON_READABLE;
}

/*
 * Return whether all members that are read lie within the size of the symbol _PyRuntime. True if
 * the symbol is missing or has no size.
 */
static bool runtime_holds(const struct python_file *f, const struct python_symbols *symbols)
{
	const struct python_extent *at = &symbols->at[PYTHON_NAME_RUNTIME];
	uint64_t size = at->end - at->start;
	const struct python_layout *l = &f->layout;

	if (!size)
		return true;
	return l->runtime_interpreters + 8 <= size &&
	       (l->runtime_holder == PYTHON_ABSENT || l->runtime_holder + 8 <= size) &&
	       (l->runtime_collecting == PYTHON_ABSENT || l->runtime_collecting + 4 <= size);
}

/*
 * Find the version. Return whether frames can be read as far as the version and the symbols decide
 * that. If not, f->support is the reason: the version is unknown or before 3.8, or a needed symbol
 * is missing.
 */
static bool check_python_version(struct python_file *f, const struct elf_image *image,
				 const struct python_symbols *symbols,
				 struct python_version *version)
{
	f->support = PYTHON_UNKNOWN;
	if (python_version_find(version, image, symbols, f->runtime)) {
		f->major = version->major;
		f->minor = version->minor;
		f->micro = version->micro;
	}
	if (f->major && PYTHON_VERSION(f->major, f->minor) < PYTHON_VERSION(3, 8))
		f->support = PYTHON_OLD;
	else if (!symbols->found[PYTHON_NAME_LOOP] || !symbols->found[PYTHON_NAME_CODE_TYPE] ||
		 !f->runtime)
		f->support = PYTHON_HIDDEN;
	else
		return f->major;
	return false;
}

/*
 * Fill *f. What the file's contents rule out becomes f->support; other errors, such as -ENOMEM, are
 * returned. Return 0 or a negative errno.
 */
static int check_python_support(struct python_file *f, struct elf_image *image,
				const struct python_symbols *symbols)
{
	struct python_version version = {0};
	int ret;

	f->runtime = find_runtime(image, symbols);
	if (!check_python_version(f, image, symbols, &version))
		return 0;
	f->code_type = symbols->at[PYTHON_NAME_CODE_TYPE].start;
	f->runtime_bytes =
		symbols->at[PYTHON_NAME_RUNTIME].end - symbols->at[PYTHON_NAME_RUNTIME].start;
	f->support = choose_layout(f, image, &version);
	if (f->support != PYTHON_READABLE)
		return 0;
	ret = runtime_holds(f, symbols) ? python_loops_find(f, image, symbols) : -ENOENT;
	if (ret == -ENOENT || ret == -EBADMSG || ret == -E2BIG || ret == -EINVAL) {
		f->support = PYTHON_UNKNOWN;
		ret = 0;
	}
	return ret;
}

static int inspect_python_image(struct python_file *out, struct elf_image *image)
{
	struct python_symbols symbols;
	struct python_file f = {.support = PYTHON_NONE};
	int ret = python_symbols_read(&symbols, image);

	if (!ret && python_symbols_any(&symbols))
		ret = check_python_support(&f, image, &symbols);
	if (ret)
		return ret;
	if (f.support != PYTHON_READABLE)
		f = (struct python_file){
			.support = f.support,
			.major = f.major,
			.minor = f.minor,
			.micro = f.micro,
		};
	*out = f;
	return 0;
}

int python_file_read(struct python_file *out, int fd, struct heartbeat *b)
{
	struct elf_image image;
	int ret = elf_image_open(&image, fd, b);

	if (!ret && image.header.e_ident[EI_DATA] != ELFDATA2LSB)
		*out = (struct python_file){.support = PYTHON_NONE};
	else if (!ret)
		ret = inspect_python_image(out, &image);
	elf_image_close(&image);
	return ret;
}
