// SPDX-License-Identifier: Apache-2.0
/* Read the symbol tables of an ELF file into one flat table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/elf.h"

/* Maximum number of entries of a symbol table, functions or not; a table with more is not used. */
#define ENTRIES_MAX (16u << 20)
#define CHUNK 2048 /* entries read at a time */
#define SEGMENTS_MAX 4096
#define COMPARED 256 /* bytes of names that are compared when names compete */

/*
 * While symbols are gathered, a range's rank is its quality, which decides between several symbols
 * at one address: bits 0-1 are the binding, bit 2 is set for a type, bit 3 for a size.
 */
enum { QUALITY_TYPED = 4, QUALITY_SIZED = 8 };

/* Lower ranks are those of functions without a symbol, see elf_frames.c. */
#define RANK_SYMBOLS 1

/* The images that are open while symbols are read. */
struct elf_reading {
	struct elf_image image, other; /* other: a debug file, or the image inside .gnu_debugdata */
	uint64_t strings_most; /* of struct elf_files */
};

struct symbol_reader {
	struct symtab *symbols;
	const struct elf_image *image;
	/*
	 * what is added to the offset of a name in the string table: the table's place in
	 * symbols->names, or SYMBOL_NAME_OUTSIDE
	 */
	uint32_t names;
	uint64_t names_size;
	VECTOR(GElf_Shdr) sections;
};

static unsigned int symbol_quality(const GElf_Sym *s)
{
	unsigned int binding = GELF_ST_BIND(s->st_info), type = GELF_ST_TYPE(s->st_info);

	return (binding == STB_LOCAL  ? 0
		: binding == STB_WEAK ? 1
				      : 2) |
	       (type == STT_NOTYPE ? 0 : QUALITY_TYPED) | (s->st_size ? QUALITY_SIZED : 0);
}

/* Return whether a symbol may be a function, or a label of assembler code. */
static bool is_code_symbol(const struct symbol_reader *r, const GElf_Sym *s)
{
	unsigned int type = GELF_ST_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF || !s->st_name || s->st_name >= r->names_size)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return s->st_shndx != SHN_ABS;
	return type == STT_NOTYPE && s->st_shndx < r->sections.count &&
	       (r->sections.items[s->st_shndx].sh_flags & SHF_EXECINSTR);
}

/*
 * Return whether a code symbol has the name of a function or label. On arm64, names such as $x and
 * $d mark code and data; .L begins the names of the compiler's own labels.
 */
static bool is_code_name(const struct symbol_reader *r, const GElf_Sym *s, uint32_t name)
{
	char copy[3];
	const char *text = symtab_name(r->symbols, name, copy, sizeof(copy));

	if (GELF_ST_TYPE(s->st_info) != STT_NOTYPE)
		return text[0];
	return text[0] && text[0] != '$' && strncmp(text, ".L", 2) != 0;
}

static int add_elf_symbol(struct symbol_reader *r, const GElf_Sym *s)
{
	struct symbol_range range = {.start = s->st_value, .rank = symbol_quality(s)};

	if (!is_code_symbol(r, s))
		return 0;
	range.name = r->names + (uint32_t)s->st_name;
	if (!is_code_name(r, s, range.name) ||
	    __builtin_add_overflow(s->st_value, s->st_size, &range.end))
		return 0;
	if (!s->st_size) {
		/*
		 * A symbol without a size extends to the next symbol, at most to the end of its
		 * section; see rank_symbols().
		 */
		const GElf_Shdr *in =
			s->st_shndx < r->sections.count ? &r->sections.items[s->st_shndx] : NULL;

		if (!in || s->st_value < in->sh_addr ||
		    __builtin_add_overflow(in->sh_addr, in->sh_size, &range.end) ||
		    range.end - range.start > SYMBOL_SIZE_MAX)
			return 0;
	}
	return symtab_add(r->symbols, &range);
}

/* Return one entry of a symbol table, in this machine's byte order, for either ELF class. */
static GElf_Sym symbol_entry(const struct elf_image *image, const Elf_Data *data, size_t i)
{
	if (image->header.e_ident[EI_CLASS] == ELFCLASS64)
		return ((const GElf_Sym *)data->d_buf)[i];
	return elf_widen_symbol(&((const Elf32_Sym *)data->d_buf)[i]);
}

static int add_symbol_entries(struct symbol_reader *r, const GElf_Shdr *table)
{
	const struct elf_image *image = r->image;
	size_t size = gelf_fsize(image->elf, ELF_T_SYM, 1, EV_CURRENT);
	uint64_t count = table->sh_size / size, at = 0;
	GElf_Sym buf[CHUNK];
	Elf_Data data = {.d_buf = buf, .d_type = ELF_T_SYM, .d_version = EV_CURRENT};
	int ret = count > ENTRIES_MAX ? -E2BIG : 0;

	while (!ret && at < count) {
		size_t n = count - at < CHUNK ? (size_t)(count - at) : CHUNK;

		data.d_size = n * size;
		ret = elf_image_read(image, table->sh_offset + at * size, buf, n * size);
		if (!ret &&
		    !gelf_xlatetom(image->elf, &data, &data, image->header.e_ident[EI_DATA]))
			ret = -EBADMSG;
		for (size_t i = 0; !ret && i < n; i++) {
			GElf_Sym s = symbol_entry(image, &data, i);

			ret = add_elf_symbol(r, &s);
		}
		at += n;
	}
	return ret;
}

static int read_of_image(const void *image, uint64_t offset, void *buf, size_t size)
{
	return elf_image_read(image, offset, buf, size);
}

/* Leave a string table in its file. */
static void leave_symbol_names(struct symbol_reader *r, const GElf_Shdr *strings)
{
	r->symbols->outside = (struct symbol_strings){
		.read = read_of_image,
		.file = r->image,
		.from = strings->sh_offset,
		.size = strings->sh_size,
	};
	r->names = SYMBOL_NAME_OUTSIDE;
	r->names_size = strings->sh_size;
}

/*
 * Add the whole string table unchanged: names may share bytes in it, and a hostile file could make
 * copies of single names take far more memory than the table.
 */
static int add_symbol_names(struct symbol_reader *r, const GElf_Shdr *strings,
			    uint64_t strings_most)
{
	struct symtab *t = r->symbols;
	size_t first = t->names.count ? t->names.count : 1;
	int ret;

	if (strings->sh_type != SHT_STRTAB || (strings->sh_flags & SHF_COMPRESSED))
		return -EBADMSG;
	if (first + strings->sh_size + 1 > SYMBOL_NAMES_MAX)
		return -E2BIG;
	if (strings_most && strings->sh_size >= strings_most && !t->outside.size) {
		leave_symbol_names(r, strings);
		return 0;
	}
	if (vector_reserve(&t->names, strings->sh_size + 2) < 0)
		return -ENOMEM;
	ret = elf_image_read(r->image, strings->sh_offset, t->names.items + first,
			     strings->sh_size);
	if (ret < 0)
		return ret;
	t->names.items[0] = '\0';
	t->names.items[first + strings->sh_size] = '\0';
	t->names.count = first + strings->sh_size + 1;
	r->names = (uint32_t)first;
	r->names_size = strings->sh_size;
	return 0;
}

/*
 * Add the symbols of the first table of this type. Return 0; -ENOENT: the image has no such table;
 * or another negative errno.
 */
static int add_symbol_table(struct symtab *symbols, const struct elf_image *image, uint32_t type,
			    uint64_t strings_most)
{
	struct symbol_reader r = {.symbols = symbols, .image = image};
	GElf_Shdr table, strings;
	int ret = 0;

	if (!elf_section_typed(image, type, &table) || !table.sh_size)
		return -ENOENT;
	if ((table.sh_flags & SHF_COMPRESSED) || !elf_section(image, table.sh_link, &strings))
		return -EBADMSG;
	for (size_t i = 0; !ret && i < image->sections && i < SHN_LORESERVE; i++) {
		GElf_Shdr s;

		if (!elf_section(image, i, &s))
			s = (GElf_Shdr){0};
		ret = vector_push(&r.sections, s);
	}
	if (!ret)
		ret = add_symbol_names(&r, &strings, strings_most);
	if (!ret)
		ret = add_symbol_entries(&r, &table);
	vector_free(&r.sections);
	return ret;
}

static size_t count_underscores(const char *name)
{
	size_t n = 0;

	while (n < COMPARED && name[n] == '_')
		n++;
	return n;
}

/*
 * Sort by address, and worse symbols before better ones. The better of two symbols is, in this
 * order: the one with a size, with a type, with the stronger binding, with fewer leading
 * underscores, with the shorter name, or with the name that is first in byte order.
 */
static int by_preference(const void *a, const void *b, void *context)
{
	const struct symbol_range *x = a, *y = b;
	char copies[2][COMPARED + 1];
	const char *p, *q;
	size_t m, n;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	p = symtab_name(context, x->name, copies[0], sizeof(copies[0]));
	q = symtab_name(context, y->name, copies[1], sizeof(copies[1]));
	m = count_underscores(p);
	n = count_underscores(q);
	if (m == n) {
		m = strnlen(p, COMPARED);
		n = strnlen(q, COMPARED);
	}
	if (m != n)
		return m > n ? -1 : 1;
	return strncmp(q, p, COMPARED);
}

/*
 * Set the ranks so that the innermost symbol wins: ranks grow with the address, and all symbols
 * with a size rank above all symbols without a size, which end where the next symbol begins.
 */
static void rank_symbols(struct symtab *t)
{
	struct symbol_range *ranges = t->ranges.items;
	size_t count = t->ranges.count;
	uint64_t next = UINT64_MAX;

	if (!count)
		return;
	qsort_r(ranges, count, sizeof(*ranges), by_preference, t);
	for (size_t i = count; i-- > 0;) {
		bool sized = ranges[i].rank & QUALITY_SIZED;

		if (i + 1 < count && ranges[i + 1].start != ranges[i].start)
			next = ranges[i + 1].start;
		if (!sized && next < ranges[i].end)
			ranges[i].end = next;
		ranges[i].rank = RANK_SYMBOLS + (uint32_t)(sized ? count + i : i);
	}
}

bool elf_is_debug_file_of(const struct elf_image *debug, const struct object_facts *facts)
{
	struct object_facts other = {0};
	uint32_t crc;

	elf_image_identity(debug, &other);
	if (facts->build_id[0]) /* a CRC is easily forged, and the file may come from a server */
		return strcmp(facts->build_id, other.build_id) == 0;
	return facts->debuglink[0] && elf_image_crc(debug, &crc) == 0 &&
	       crc == facts->debuglink_crc;
}

static int add_debug_file(struct symtab *symbols, struct elf_reading *r, int fd,
			  const struct object_facts *facts)
{
	int ret = elf_image_open(&r->other, fd, r->image.heartbeat);

	if (ret)
		return ret;
	return elf_is_debug_file_of(&r->other, facts)
		       ? add_symbol_table(symbols, &r->other, SHT_SYMTAB, r->strings_most)
		       : -ENOENT;
}

static int add_debugdata(struct symtab *symbols, struct elf_reading *r)
{
	int ret = elf_image_open_debugdata(&r->other, &r->image);

	return ret ? ret : add_symbol_table(symbols, &r->other, SHT_SYMTAB, r->strings_most);
}

static void close_other(struct elf_reading *r)
{
	elf_image_close(&r->other);
	r->other = (struct elf_image){.fd = -1};
}

/*
 * Add the symbols of the best source that can be read. Return 0, also if the file has no symbols at
 * all. Return an error if .dynsym is needed and invalid, or if .symtab is invalid and there is no
 * other source.
 */
static int add_best_symbols(struct symtab *symbols, struct elf_reading *r, int debug_fd,
			    struct object_facts *facts)
{
	int ret = add_symbol_table(symbols, &r->image, SHT_SYMTAB, r->strings_most), dynamic;

	if (!ret)
		return 0;
	facts->wants_debug = true;
	symtab_free(symbols);
	if (debug_fd >= 0) {
		if (add_debug_file(symbols, r, debug_fd, facts) == 0) {
			facts->wants_debug = false;
			return 0;
		}
		symtab_free(symbols);
		close_other(r);
	}
	if (add_debugdata(symbols, r) == 0)
		facts->wants_debug = false;
	else
		symtab_free(symbols);
	if (symbols->outside.file != &r->other)
		close_other(r);
	dynamic = add_symbol_table(symbols, &r->image, SHT_DYNSYM, r->strings_most);
	if (dynamic == -ENOENT)
		return facts->wants_debug && ret != -ENOENT ? ret : 0;
	return dynamic;
}

int elf_read_segments(struct elf *e, const struct elf_image *image)
{
	size_t count;
	GElf_Phdr p;
	int ret = 0;

	if (elf_getphdrnum(image->elf, &count) < 0 || count > SEGMENTS_MAX)
		return -EBADMSG;
	for (size_t i = 0; !ret && i < count; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &p))
			return -EBADMSG;
		if (p.p_type == PT_LOAD)
			ret = vector_push(&e->segments, ((struct elf_segment){
								.offset = p.p_offset,
								.size = p.p_filesz,
								.address = p.p_vaddr,
								.executable = p.p_flags & PF_X,
							}));
	}
	return ret;
}

/* Make the table for lookups from the ranges. */
static int build_symbols(struct symtab *t, bool pack)
{
	int ret = symtab_build(t);

	symtab_seal(t);
	if (ret || !pack)
		return ret;
	ret = symtab_pack(t);
	/* names in memory are found without being packed, too */
	return t->outside.size ? ret : 0;
}

static int read_elf_image(struct elf *e, struct elf_reading *r, int debug_fd,
			  struct object_facts *facts)
{
	struct elf_image *image = &r->image;
	int ret;

	elf_image_identity(image, facts);
	ret = elf_read_segments(e, image);
	if (!ret)
		ret = add_best_symbols(&e->symbols, r, debug_fd, facts);
	if (!ret) {
		rank_symbols(&e->symbols);
		if (facts->wants_debug)
			ret = elf_add_go(e, image);
	}
	if (!ret)
		ret = elf_add_plt(e, image);
	facts->symbols = ret ? 0 : e->symbols.ranges.count;
	if (!ret)
		ret = elf_add_frames(e, image);
	if (!ret)
		ret = build_symbols(&e->symbols, r->strings_most);
	if (!ret)
		ret = elf_add_entry(e, image);
	if (!ret)
		ret = elf_add_code_starts(e, image);
	symtab_seal(&e->symbols);
	return ret;
}

int elf_read(struct elf *out, const struct elf_files *files, struct object_facts *facts)
{
	struct elf_reading r = {.other.fd = -1, .strings_most = files->strings_most};
	int ret;

	*out = (struct elf){0};
	ret = elf_image_open(&r.image, files->file.fd, files->file.heartbeat);
	if (!ret)
		ret = read_elf_image(out, &r, files->debug, facts);
	symbol_strings_close(&out->symbols.outside);
	elf_image_close(&r.other);
	elf_image_close(&r.image);
	return ret ? ret : stamp_check(files->file.fd, &files->file.stamp);
}

void elf_free(struct elf *e)
{
	symtab_free(&e->symbols);
	vector_free(&e->segments);
	vector_free(&e->starts);
}

/*
 * Two segments may contain the same file offset: prefer an executable one, since it has the code.
 */
bool elf_offset_to_address(const struct elf *e, uint64_t offset, uint64_t *out)
{
	bool found = false;

	for (size_t i = 0; i < e->segments.count; i++) {
		const struct elf_segment *s = &e->segments.items[i];

		if (offset < s->offset || offset - s->offset >= s->size)
			continue;
		*out = s->address + (offset - s->offset);
		found = true;
		if (s->executable)
			break;
	}
	return found;
}

static bool is_in_starts(const struct elf *e, uint64_t address)
{
	for (size_t i = 0; i < e->starts.count; i++) {
		if (address >= e->starts.items[i].start && address < e->starts.items[i].end)
			return true;
	}
	return false;
}

bool elf_find(const struct elf *e, uint64_t offset, struct found_symbol *out)
{
	uint64_t address;
	bool found;

	*out = (struct found_symbol){.name = ""};
	if (!elf_offset_to_address(e, offset, &address))
		return false;
	found = symtab_find(&e->symbols, address, out);
	if (is_in_starts(e, address) || (found && elf_name_is_start(out->name)))
		out->flags |= SYMBOL_START;
	if (found)
		out->start -= address - offset;
	return found;
}

size_t elf_bytes(const struct elf *e)
{
	return symtab_bytes(&e->symbols) + e->segments.capacity * sizeof(*e->segments.items) +
	       e->starts.capacity * sizeof(*e->starts.items);
}

/*
 * Bytes for each symbol and each function of .eh_frame while the table is built: a range, at most
 * twice, since vectors grow to twice their size, and a span. Most entries of .eh_frame take 32
 * bytes and more; the shortest have 24.
 */
#define SYMBOL_BYTES (2 * sizeof(struct symbol_range) + sizeof(struct symbol_span))
#define FRAME_ENTRY_LEAST 24

static uint64_t reading_bytes(int fd, const struct elf_files *files)
{
	struct elf_image image;
	GElf_Shdr symbols = {0}, strings = {0}, frames = {0};
	uint64_t count = 0;

	if (elf_image_open(&image, fd, files->file.heartbeat) == 0) {
		if (elf_section_typed(&image, SHT_SYMTAB, &symbols) ||
		    elf_section_typed(&image, SHT_DYNSYM, &symbols))
			elf_section(&image, symbols.sh_link, &strings);
		elf_section_named(&image, ".eh_frame", &frames);
		count = symbols.sh_size / gelf_fsize(image.elf, ELF_T_SYM, 1, EV_CURRENT);
	}
	elf_image_close(&image);
	count += frames.sh_size / FRAME_ENTRY_LEAST;
	if (files->strings_most && strings.sh_size >= files->strings_most)
		strings.sh_size = 0;
	return strings.sh_size + frames.sh_size + count * SYMBOL_BYTES;
}

uint64_t elf_reading_bytes(const struct elf_files *files)
{
	uint64_t bytes = reading_bytes(files->file.fd, files);
	uint64_t debug = files->debug >= 0 ? reading_bytes(files->debug, files) : 0;

	return bytes > debug ? bytes : debug;
}
