// SPDX-License-Identifier: Apache-2.0
/*
 * Find the sections for lines and inlined functions by name, add up their sizes, and copy or unpack
 * them into a new ELF image with section headers that point to them.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "symbolizers/dwarf_image.h"

/* The sections that libdw reads for lines and inlined functions; the first is required. */
#define SECTIONS(X) \
	X(".debug_info") X(".debug_abbrev") X(".debug_line") X(".debug_line_str") X(".debug_str") \
	X(".debug_str_offsets") X(".debug_ranges") X(".debug_rnglists") X(".debug_addr") \
	X(".debug_types")
#define SECTION_NAME(name) name,
static const char *const names[] = {SECTIONS(SECTION_NAME)};
#define SECTION_COUNT (sizeof(names) / sizeof(*names))
/* The names of these sections as a string table, after the empty name. */
#define SECTION_TEXT(name) name "\0"
static const char name_table[] = "\0" SECTIONS(SECTION_TEXT) ".shstrtab";

#define COMPRESS_ZSTD 2 /* ELFCOMPRESS_ZSTD, which older headers lack */
#define PACKED_BLOCK (64u << 10) /* bytes read at a time */
#define ALTLINK_MAX 4096
#define ALIGNMENT 16

struct dwarf_section {
	GElf_Shdr from;
	GElf_Chdr packed; /* ch_type 0: not compressed */
	uint64_t at, size; /* place and size of the section in the new image */
};

struct dwarf_sections {
	struct dwarf_section list[SECTION_COUNT];
	uint64_t header; /* offset of the section headers */
	uint64_t size;
};

/* Set the size of a section when unpacked, and its kind of compression if it is compressed. */
static int read_packed_header(const struct elf_image *image, struct dwarf_section *p)
{
	Elf64_Chdr head;
	int ret;

	if (!(p->from.sh_flags & SHF_COMPRESSED)) {
		p->size = p->from.sh_size;
		return 0;
	}
	if (p->from.sh_size < sizeof(head))
		return -EBADMSG;
	ret = elf_image_read(image, p->from.sh_offset, &head, sizeof(head));
	if (ret < 0)
		return ret;
	if (head.ch_type != ELFCOMPRESS_ZLIB && head.ch_type != COMPRESS_ZSTD)
		return -EBADMSG;
	p->packed.ch_type = head.ch_type;
	p->size = head.ch_size;
	return 0;
}

/*
 * Find the sections in an image and add up their sizes when unpacked. If several sections have the
 * same name, the first is used. Return -ENOENT without .debug_info.
 */
static int find_dwarf_sections(struct dwarf_sections *sections, const struct elf_image *image,
			       uint64_t *needed)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < SECTION_COUNT; i++) {
		struct dwarf_section *p = &sections->list[i];

		if (!elf_section_named(image, names[i], &p->from) ||
		    p->from.sh_type == SHT_NOBITS || !p->from.sh_size) {
			p->from.sh_size = 0;
			continue;
		}
		ret = read_packed_header(image, p);
		if (!ret && __builtin_add_overflow(*needed, p->size, needed))
			ret = -E2BIG;
	}
	if (!ret && !sections->list[0].size)
		ret = -ENOENT;
	return ret;
}

static uint64_t align_section(uint64_t at)
{
	return (at + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static void place_sections(struct dwarf_sections *sections)
{
	uint64_t at = align_section(sizeof(Elf64_Ehdr) + sizeof(name_table));

	for (size_t i = 0; i < SECTION_COUNT; i++) {
		sections->list[i].at = at;
		at = align_section(at + sections->list[i].size);
	}
	sections->header = at;
	sections->size = at + (SECTION_COUNT + 2) * sizeof(Elf64_Shdr);
}

static void write_headers(char *to, const struct dwarf_sections *sections,
			  const struct elf_image *image)
{
	Elf64_Ehdr header = {
		.e_type = ET_DYN,
		.e_machine = image->header.e_machine,
		.e_version = EV_CURRENT,
		.e_shoff = sections->header,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTION_COUNT + 2,
		.e_shstrndx = SECTION_COUNT + 1,
	};
	Elf64_Shdr s[SECTION_COUNT + 2] = {{0}};
	uint32_t name = 1;

	memcpy(header.e_ident, image->header.e_ident, EI_NIDENT);
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		const struct dwarf_section *p = &sections->list[i];

		s[i + 1] = (Elf64_Shdr){
			.sh_name = name,
			.sh_type = p->size ? SHT_PROGBITS : SHT_NOBITS,
			.sh_offset = p->at,
			.sh_size = p->size,
			.sh_addralign = 1,
		};
		name += (uint32_t)strlen(names[i]) + 1;
	}
	s[SECTION_COUNT + 1] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = SHT_STRTAB,
		.sh_offset = sizeof(header),
		.sh_size = sizeof(name_table),
		.sh_addralign = 1,
	};
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), name_table, sizeof(name_table));
	memcpy(to + sections->header, s, sizeof(s));
}

/* The bytes of a compressed section, read in blocks; at and end are file offsets. */
struct packed_section {
	const struct elf_image *image;
	uint64_t at, end;
	char buf[PACKED_BLOCK];
};

static int next_packed_block(struct packed_section *in, size_t *out)
{
	uint64_t left = in->end - in->at;
	size_t size = left < sizeof(in->buf) ? (size_t)left : sizeof(in->buf);
	int ret = size ? elf_image_read(in->image, in->at, in->buf, size) : -EBADMSG;

	in->at += size;
	*out = size;
	heartbeat_send(in->image->heartbeat);
	return ret;
}

/* Return how much of the size bytes of output is left, cut to the 32 bits that zlib counts. */
static unsigned int output_room(const z_stream *z, char *to, uint64_t size)
{
	uint64_t left = size - (uint64_t)((char *)z->next_out - to);

	return left < UINT32_MAX ? (unsigned int)left : UINT32_MAX;
}

static int unpack_zlib(struct packed_section *in, char *to, uint64_t size)
{
	z_stream z = {.next_out = (Bytef *)to};
	int state = inflateInit(&z), rc = state == Z_OK ? 0 : -ENOMEM;
	size_t got;

	while (!rc && state == Z_OK) {
		if (!z.avail_in) {
			rc = next_packed_block(in, &got);
			z.next_in = (Bytef *)in->buf;
			z.avail_in = (unsigned int)got;
		}
		z.avail_out = output_room(&z, to, size);
		if (!rc)
			state = inflate(&z, Z_NO_FLUSH);
	}
	if (!rc && (state != Z_STREAM_END || (uint64_t)((char *)z.next_out - to) != size))
		rc = state == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	inflateEnd(&z);
	return rc;
}

static int unpack_zstd(struct packed_section *in, char *to, uint64_t size)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_outBuffer out = {.dst = to, .size = size};
	size_t got, state = 1;
	int ret = z ? 0 : -ENOMEM;

	while (!ret && state) {
		ZSTD_inBuffer block = {.src = in->buf};

		ret = next_packed_block(in, &got);
		block.size = got;
		while (!ret && state && block.pos < block.size) {
			size_t before = block.pos, made = out.pos;

			state = ZSTD_decompressStream(z, &out, &block);
			if (ZSTD_isError(state) || (block.pos == before && out.pos == made))
				ret = -EBADMSG;
		}
	}
	ZSTD_freeDStream(z);
	return ret ? ret : out.pos == size ? 0 : -EBADMSG;
}

static int read_dwarf_section(char *to, const struct dwarf_section *p,
			      const struct elf_image *image)
{
	struct packed_section *in;
	int ret;

	heartbeat_send(image->heartbeat);
	if (!p->size)
		return 0;
	if (!p->packed.ch_type)
		return elf_image_read(image, p->from.sh_offset, to + p->at, p->size);
	in = malloc(sizeof(*in));
	if (!in)
		return -ENOMEM;
	in->image = image;
	in->at = p->from.sh_offset + sizeof(Elf64_Chdr);
	in->end = p->from.sh_offset + p->from.sh_size;
	ret = p->packed.ch_type == ELFCOMPRESS_ZLIB ? unpack_zlib(in, to + p->at, p->size)
						    : unpack_zstd(in, to + p->at, p->size);
	free(in);
	return ret;
}

/*
 * Return whether the file has 64 bits and this machine's byte order. Other files are refused, since
 * their code hardly ever runs here.
 */
static bool is_native_image(const struct elf_image *image)
{
	const unsigned char *ident = image->header.e_ident;

	return ident[EI_CLASS] == ELFCLASS64 &&
	       ident[EI_DATA] == (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB);
}

/*
 * Exit when libdw runs out of memory, so that the client starts another worker. Without this
 * handler, libdw would print a message first.
 */
static void __attribute__((noreturn)) exit_without_memory(void)
{
	_exit(1);
}

static int open_dwarf(struct dwarf_image *d)
{
	d->elf = elf_memory(d->bytes, d->size);
	if (!d->elf)
		return -ENOMEM;
	d->dwarf = dwarf_begin_elf(d->elf, DWARF_C_READ, NULL);
	if (!d->dwarf)
		return -EBADMSG;
	dwarf_new_oom_handler(d->dwarf, exit_without_memory);
	return 0;
}

int dwarf_image_open(struct dwarf_image *out, const struct elf_image *image, uint64_t budget,
		     uint64_t *needed)
{
	struct dwarf_sections sections = {.size = 0};
	int ret = is_native_image(image) ? 0 : -EBADMSG;

	*out = (struct dwarf_image){0};
	*needed = 0;
	if (!ret)
		ret = find_dwarf_sections(&sections, image, needed);
	if (!ret && *needed > budget)
		ret = -E2BIG;
	if (ret < 0)
		return ret;
	place_sections(&sections);
	out->size = sections.size;
	out->bytes = calloc(1, sections.size);
	if (!out->bytes)
		return -ENOMEM;
	write_headers(out->bytes, &sections, image);
	for (size_t i = 0; !ret && i < SECTION_COUNT; i++)
		ret = read_dwarf_section(out->bytes, &sections.list[i], image);
	return ret ? ret : open_dwarf(out);
}

void dwarf_image_close(struct dwarf_image *d)
{
	dwarf_end(d->dwarf);
	elf_end(d->elf);
	free(d->bytes);
	*d = (struct dwarf_image){0};
}

bool dwarf_image_alternate(const struct elf_image *image, char *path, size_t path_size, char *id,
			   size_t id_size)
{
	GElf_Shdr section;
	size_t length, rest;
	char *bytes = NULL;
	bool found = false;

	if (elf_section_named(image, ".gnu_debugaltlink", &section))
		bytes = elf_section_bytes(image, &section, ALTLINK_MAX);
	if (!bytes)
		return false;
	length = strnlen(bytes, section.sh_size);
	rest = section.sh_size - length;
	if (length && length < path_size && rest > 1 && 2 * (rest - 1) < id_size) {
		memcpy(path, bytes, length + 1);
		for (size_t i = 0; i < rest - 1; i++) {
			uint8_t byte = (uint8_t)bytes[length + 1 + i];

			id[2 * i] = "0123456789abcdef"[byte >> 4];
			id[2 * i + 1] = "0123456789abcdef"[byte & 15];
		}
		id[2 * (rest - 1)] = '\0';
		found = true;
	}
	free(bytes);
	return found;
}
