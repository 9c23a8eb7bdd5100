// SPDX-License-Identifier: Apache-2.0
/*
 * Find the version of Python in a file. Struct layouts depend on the version, and reading with a
 * wrong layout would not fail visibly; so two places in the file must agree on the version.
 */
#include <stdlib.h>
#include <string.h>

#include "symbolizers/python_file_private.h"

#define FUNCTION_MAX 256 /* maximum bytes of Py_GetVersion(), which has less than 100 */
#define TEXT_MAX 32 /* bytes of a text with a version, NUL included */
#define SEARCH_MAX (256u << 20) /* bytes; a larger .rodata is not searched */
#define SEARCH_CHUNK (64u << 10) /* bytes */

/* The version according to the places in the file that were read so far. */
struct version_votes {
	struct python_version version;
	unsigned int count; /* number of places with a version */
	bool micro; /* whether version.micro is known */
	bool disagree; /* two places have different versions */
};

static void vote_version(struct version_votes *v, unsigned int major, unsigned int minor, int micro)
{
	if (major > UINT8_MAX || minor > UINT8_MAX || micro > UINT8_MAX)
		return;
	if (v->count++ && (v->version.major != major || v->version.minor != minor ||
			   (micro >= 0 && v->micro && v->version.micro != micro)))
		v->disagree = true;
	v->version.major = (uint8_t)major;
	v->version.minor = (uint8_t)minor;
	if (micro < 0)
		return;
	v->version.micro = (uint8_t)micro;
	v->micro = true;
}

static void vote_version_hex(struct version_votes *v, uint64_t hex)
{
	vote_version(v, hex >> 24 & 255, hex >> 16 & 255, hex >> 8 & 255);
}

/* Read the variable that exists from 3.11 on: const unsigned long Py_Version = PY_VERSION_HEX. */
static void vote_by_variable(struct version_votes *v, const struct elf_image *image,
			     const struct python_symbols *symbols)
{
	uint64_t hex;

	if (symbols->found[PYTHON_NAME_VERSION] &&
	    python_bytes_at(image, symbols->at[PYTHON_NAME_VERSION].start, &hex, sizeof(hex)) &&
	    hex >> 32 == 0)
		vote_version_hex(v, hex);
}

/*
 * Read the first two words of _PyRuntime, from 3.13 on a cookie and PY_VERSION_HEX; see
 * python_offsets.c.
 */
static void vote_by_runtime(struct version_votes *v, const struct elf_image *image,
			    uint64_t runtime)
{
	uint64_t words[2];

	if (runtime && python_bytes_at(image, runtime, words, sizeof(words)) &&
	    memcmp(words, "xdebugpy", 8) == 0 && words[1] >> 32 == 0)
		vote_version_hex(v, words[1]);
}

/*
 * Parse a number of at most three digits. Return the text after the number, or NULL if there are no
 * digits.
 */
static const char *parse_version_number(const char *text, unsigned int *out)
{
	const char *p = text;

	for (*out = 0; *p >= '0' && *p <= '9' && p - text < 3; p++)
		*out = *out * 10 + (unsigned int)(*p - '0');
	return p == text ? NULL : p;
}

/* Parse a version like "3.8", of major 2 or 3. Return the text after the version, or NULL. */
static const char *parse_major_minor(const char *text, unsigned int *major, unsigned int *minor)
{
	const char *p = parse_version_number(text, major);

	return p && *p == '.' && *major >= 2 && *major <= 3 ? parse_version_number(p + 1, minor)
							    : NULL;
}

/*
 * Read DT_SONAME, such as libpython3.8.so.1.0. Letters after the version are flags: m (up to 3.7),
 * d (built with Py_DEBUG), t (free-threaded).
 */
static void vote_by_soname(struct version_votes *v, const struct elf_image *image)
{
	static const char prefix[] = "libpython";
	uint64_t strings, name, size;
	char text[TEXT_MAX] = "";
	unsigned int major, minor;
	const char *p, *flags;

	if (!elf_dynamic(image, DT_SONAME, &name) || !elf_dynamic(image, DT_STRTAB, &strings) ||
	    !elf_dynamic(image, DT_STRSZ, &size) || name >= size)
		return;
	size = size - name < sizeof(text) - 1 ? size - name : sizeof(text) - 1;
	if (!python_bytes_at(image, strings + name, text, size) ||
	    strncmp(text, prefix, sizeof(prefix) - 1) != 0)
		return;
	flags = parse_major_minor(text + sizeof(prefix) - 1, &major, &minor);
	if (!flags)
		return;
	p = flags + strspn(flags, "abcdefghijklmnopqrstuvwxyz");
	if (strncmp(p, ".so", 3) != 0)
		return;
	for (; flags < p; flags++) {
		v->version.debug |= *flags == 'd';
		v->version.free_threaded |= *flags == 't';
	}
	vote_version(v, major, minor, -1);
}

/*
 * Parse "3.8.18", "3.9.2+" or "3.14.0rc1", up to the end of the text or a space: some distributions
 * append " | packaged by ...".
 */
static bool parse_python_version(const char *text, unsigned int *major, unsigned int *minor,
				 unsigned int *micro)
{
	const char *p = parse_major_minor(text, major, minor);

	p = p && *p == '.' ? parse_version_number(p + 1, micro) : NULL;
	if (!p)
		return false;
	p += strspn(p, "abrc+0123456789");
	return *p == '\0' || *p == ' ';
}

/*
 * Read the start of a text: TEXT_MAX - 1 bytes, or a half, a quarter and so on, whatever the
 * segment has in the file. The result always ends with a NUL.
 */
static void read_text_at(const struct elf_image *image, uint64_t address, char text[TEXT_MAX])
{
	size_t size = TEXT_MAX - 1;

	memset(text, 0, TEXT_MAX);
	while (size && !python_bytes_at(image, address, text, size))
		size /= 2;
}

/*
 * Return the address that the x86-64 instruction code, which is at address at, puts into a
 * register: lea disp(%rip),%reg, or mov $imm32,%reg in code that is not position-independent. 0:
 * the instruction is neither.
 */
static uint64_t address_made(const uint8_t *code, uint64_t at)
{
	uint32_t value;

	if ((code[0] & 0xfb) == 0x48 && code[1] == 0x8d && (code[2] & 0xc7) == 5) {
		memcpy(&value, code + 3, sizeof(value));
		return at + 7 + (uint64_t)(int64_t)(int32_t)value;
	}
	if ((code[0] & 0xf8) == 0xb8) {
		memcpy(&value, code + 1, sizeof(value));
		return value;
	}
	return 0;
}

/*
 * Search the x86-64 code of Py_GetVersion() for the address of a text with a version: the function
 * makes its result from PY_VERSION and other texts.
 */
static void vote_by_function(struct version_votes *v, const struct elf_image *image,
			     const struct python_symbols *symbols)
{
	const struct python_extent *at = &symbols->at[PYTHON_NAME_GET_VERSION];
	uint64_t size = at->end - at->start;
	unsigned int major, minor, micro;
	uint8_t code[FUNCTION_MAX + 8] = {0};
	char text[TEXT_MAX];

	if (size > FUNCTION_MAX)
		size = FUNCTION_MAX;
	if (!symbols->found[PYTHON_NAME_GET_VERSION] || image->header.e_machine != EM_X86_64 ||
	    !python_bytes_at(image, at->start, code, size))
		return;
	for (uint64_t i = 0; i < size; i++) {
		uint64_t made = address_made(code + i, at->start + i);

		if (!made)
			continue;
		read_text_at(image, made, text);
		if (parse_python_version(text, &major, &minor, &micro)) {
			vote_version(v, major, minor, (int)micro);
			return;
		}
	}
}

/*
 * The version in "lib/python3.8" or "python3.9", texts that CPython's getpath.c contains. found
 * counts versions that differ from the one before; a file with more than one has no vote.
 */
struct version_search {
	unsigned int major, minor, found;
};

static void search_version_chunk(struct version_search *s, const char *bytes, size_t size)
{
	static const char name[] = "python";
	const char *p = bytes, *end = bytes + size, *after;
	unsigned int major, minor;

	while ((p = memmem(p, (size_t)(end - p), name, sizeof(name) - 1))) {
		bool begins = p > bytes && (p[-1] == '/' || p[-1] == '\0');

		p += sizeof(name) - 1;
		after = begins ? parse_major_minor(p, &major, &minor) : NULL;
		if (!after || *after || (s->found && s->major == major && s->minor == minor))
			continue;
		s->major = major;
		s->minor = minor;
		s->found++;
	}
}

/*
 * Search the texts in .rodata, read in chunks. Chunks overlap, so that each text is whole in one of
 * them. A "?" is put after a chunk, so that a cut text does not look complete, but a NUL after the
 * last one.
 */
static void vote_by_texts(struct version_votes *v, const struct elf_image *image)
{
	struct version_search s = {.found = 0};
	char *buf = malloc(SEARCH_CHUNK + 1);
	GElf_Shdr in;
	uint64_t at = 0;

	if (buf && elf_section_named(image, ".rodata", &in) && in.sh_type == SHT_PROGBITS &&
	    in.sh_size <= SEARCH_MAX) {
		while (at < in.sh_size) {
			uint64_t left = in.sh_size - at;
			size_t n = left < SEARCH_CHUNK ? (size_t)left : SEARCH_CHUNK;

			if (elf_image_read(image, in.sh_offset + at, buf, n) < 0)
				break;
			buf[n] = n == left ? '\0' : '?';
			search_version_chunk(&s, buf, n);
			at += n == left ? n : n - TEXT_MAX;
		}
	}
	free(buf);
	if (s.found == 1)
		vote_version(v, s.major, s.minor, -1);
}

bool python_version_find(struct python_version *out, const struct elf_image *image,
			 const struct python_symbols *symbols, uint64_t runtime)
{
	struct version_votes v = {.version.debug = symbols->found[PYTHON_NAME_DEBUG]};

	vote_by_variable(&v, image, symbols);
	vote_by_runtime(&v, image, runtime);
	vote_by_soname(&v, image);
	vote_by_function(&v, image, symbols);
	if (v.count == 1)
		vote_by_texts(&v, image);
	if (v.count < 2 || v.disagree)
		return false;
	*out = v.version;
	return true;
}
