// SPDX-License-Identifier: Apache-2.0
/* Open ELF files and read their parts within bounds. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "symbolizers/elf_image.h"

#define SECTIONS_MAX (1u << 20)
#define DEBUGDATA_MAX (64u << 20)
#define NOTES_MAX (64u << 10)
#define DYNAMIC_MAX (64u << 10)

/* Read the first section names once, since every search for a section compares them. */
static void keep_section_names(struct elf_image *image)
{
	size_t strings, size;

	if (elf_getshdrstrndx(image->elf, &strings) < 0 ||
	    !elf_section(image, strings, &image->names) || image->names.sh_type != SHT_STRTAB) {
		image->names.sh_size = 0;
		return;
	}
	size = image->names.sh_size < SECTION_NAMES_KEPT ? image->names.sh_size
							 : SECTION_NAMES_KEPT;
	if (elf_image_read(image, image->names.sh_offset, image->kept_names, size) == 0)
		image->kept = size;
}

static int begin_elf_image(struct elf_image *image)
{
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF ||
	    !gelf_getehdr(image->elf, &image->header) ||
	    elf_getshdrnum(image->elf, &image->sections) < 0 || image->sections > SECTIONS_MAX)
		return -EBADMSG;
	keep_section_names(image);
	return 0;
}

int elf_image_open(struct elf_image *out, int fd, struct heartbeat *heartbeat)
{
	struct stat st;

	*out = (struct elf_image){.fd = fd, .heartbeat = heartbeat};
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	out->size = (uint64_t)st.st_size;
	elf_version(EV_CURRENT);
	out->elf = elf_begin(fd, ELF_C_READ, NULL);
	return begin_elf_image(out);
}

void elf_image_close(struct elf_image *image)
{
	elf_end(image->elf);
	free(image->memory);
	elf_snapshot_free(image->snapshot);
	image->snapshot = NULL;
	image->elf = NULL;
	image->memory = NULL;
}

void elf_image_begin_snapshot(struct elf_image *image)
{
	if (!image->snapshot && !image->memory)
		image->snapshot = elf_snapshot_new(image->fd, image->size, image->heartbeat);
}

bool elf_image_is_whole(const struct elf_image *image)
{
	return image->memory || (image->snapshot && elf_snapshot_is_whole(image->snapshot));
}

int elf_image_read(const struct elf_image *image, uint64_t offset, void *buf, size_t size)
{
	if (offset > image->size || size > image->size - offset)
		return -EBADMSG;
	if (image->memory) {
		memcpy(buf, image->memory + offset, size);
		return 0;
	}
	if (image->snapshot)
		return elf_snapshot_read(image->snapshot, offset, buf, size);
	return elf_snapshot_read_fd(image->fd, offset, buf, size, image->heartbeat);
}

bool elf_image_offset(const struct elf_image *image, uint64_t address, uint64_t size, uint64_t *out)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(image->elf, &count) < 0)
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(image->elf, (int)i, &p); i++) {
		uint64_t in = address - p.p_vaddr;

		if (p.p_type != PT_LOAD || address < p.p_vaddr || in >= p.p_filesz ||
		    size > p.p_filesz - in || p.p_offset > image->size)
			continue;
		*out = p.p_offset + in;
		return true;
	}
	return false;
}

bool elf_section(const struct elf_image *image, size_t number, GElf_Shdr *out)
{
	Elf_Scn *scn = elf_getscn(image->elf, number);

	if (!scn || !gelf_getshdr(scn, out))
		return false;
	return out->sh_type == SHT_NOBITS ||
	       (out->sh_offset <= image->size && out->sh_size <= image->size - out->sh_offset);
}

/*
 * Return whether a section has this name. Names beyond the kept bytes (only in files with many
 * sections) are read one by one.
 */
static bool section_has_name(const struct elf_image *image, const GElf_Shdr *section,
			     const char *name)
{
	char buf[32];
	size_t size = strlen(name) + 1;
	uint64_t at = section->sh_name;

	if (at >= image->names.sh_size || size > image->names.sh_size - at)
		return false;
	if (at + size <= image->kept)
		return memcmp(image->kept_names + at, name, size) == 0;
	return elf_image_read(image, image->names.sh_offset + at, buf, size) == 0 &&
	       memcmp(buf, name, size) == 0;
}

bool elf_section_named(const struct elf_image *image, const char *name, GElf_Shdr *out)
{
	GElf_Shdr section;

	for (size_t i = 1; i < image->sections; i++) {
		if (!elf_section(image, i, &section) || !section_has_name(image, &section, name))
			continue;
		*out = section;
		return true;
	}
	return false;
}

bool elf_dynamic(const struct elf_image *image, int64_t tag, uint64_t *out)
{
	size_t count = 0;
	Elf_Data *data = NULL;
	GElf_Phdr p;
	GElf_Dyn d;

	if (elf_getphdrnum(image->elf, &count) < 0)
		return false;
	for (size_t i = 0; !data && i < count && gelf_getphdr(image->elf, (int)i, &p); i++) {
		if (p.p_type == PT_DYNAMIC && p.p_filesz <= DYNAMIC_MAX)
			data = elf_getdata_rawchunk(image->elf, (int64_t)p.p_offset, p.p_filesz,
						    ELF_T_DYN);
	}
	for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
		if (d.d_tag != tag)
			continue;
		*out = d.d_un.d_val;
		return true;
	}
	return false;
}

bool elf_section_typed(const struct elf_image *image, uint32_t type, GElf_Shdr *out)
{
	GElf_Shdr section;

	for (size_t i = 1; i < image->sections; i++) {
		if (!elf_section(image, i, &section) || section.sh_type != type)
			continue;
		*out = section;
		return true;
	}
	return false;
}

char *elf_section_bytes(const struct elf_image *image, const GElf_Shdr *section, size_t limit)
{
	char *bytes;

	if (section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED) ||
	    !section->sh_size || section->sh_size > limit)
		return NULL;
	bytes = malloc(section->sh_size);
	if (bytes && elf_image_read(image, section->sh_offset, bytes, section->sh_size) < 0) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

/*
 * Unpack into a buffer that grows, so that a small file costs little and a decompression bomb
 * fails.
 */
static int unpack_xz(const char *in, size_t in_size, char **out, size_t *out_size,
		     struct heartbeat *alive)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t room = 0;
	char *text = NULL, *grown;
	lzma_ret state = lzma_stream_decoder(&stream, DEBUGDATA_MAX, 0);

	stream.next_in = (const uint8_t *)in;
	stream.avail_in = in_size;
	while (state == LZMA_OK && room < DEBUGDATA_MAX) {
		room = room ? room * 2 : 1u << 16;
		grown = realloc(text, room);
		if (!grown) {
			state = LZMA_MEM_ERROR;
			break;
		}
		text = grown;
		stream.next_out = (uint8_t *)text + stream.total_out;
		stream.avail_out = room - stream.total_out;
		state = lzma_code(&stream, LZMA_FINISH);
		heartbeat_send(alive);
	}
	*out_size = stream.total_out;
	lzma_end(&stream);
	if (state != LZMA_STREAM_END) {
		free(text);
		return state == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
	*out = text;
	return 0;
}

int elf_image_open_debugdata(struct elf_image *out, const struct elf_image *from)
{
	GElf_Shdr section;
	char *packed;
	size_t size;
	int ret;

	*out = (struct elf_image){.fd = -1, .heartbeat = from->heartbeat};
	if (!elf_section_named(from, ".gnu_debugdata", &section))
		return -ENOENT;
	packed = elf_section_bytes(from, &section, DEBUGDATA_MAX);
	if (!packed)
		return -EBADMSG;
	ret = unpack_xz(packed, section.sh_size, &out->memory, &size, from->heartbeat);
	free(packed);
	if (ret < 0)
		return ret;
	out->size = size;
	out->elf = elf_memory(out->memory, size);
	return begin_elf_image(out);
}

static void set_build_id(struct object_facts *facts, const uint8_t *id, size_t size)
{
	if (2 * size >= sizeof(facts->build_id))
		return;
	for (size_t i = 0; i < size; i++) {
		facts->build_id[2 * i] = "0123456789abcdef"[id[i] >> 4];
		facts->build_id[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
	}
	facts->build_id[2 * size] = '\0';
}

static void find_build_id(const struct elf_image *image, const GElf_Shdr *section,
			  struct object_facts *facts)
{
	Elf_Data *data;
	GElf_Nhdr note;
	size_t name, desc, at = 0;

	if (section->sh_type != SHT_NOTE || section->sh_size > NOTES_MAX)
		return;
	data = elf_getdata_rawchunk(image->elf, (int64_t)section->sh_offset, section->sh_size,
				    section->sh_addralign == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name, "GNU", sizeof("GNU")) != 0 || !note.n_descsz)
			continue;
		set_build_id(facts, (const uint8_t *)bytes + desc, note.n_descsz);
		return;
	}
}

/*
 * Read .gnu_debuglink: a file name, padded with NULs to a multiple of four bytes, and the CRC of
 * that file in the byte order of this one.
 */
static void find_debuglink(const struct elf_image *image, struct object_facts *facts)
{
	GElf_Shdr section;
	char *bytes;
	size_t length, crc_at;

	if (!elf_section_named(image, ".gnu_debuglink", &section))
		return;
	bytes = elf_section_bytes(image, &section, sizeof(facts->debuglink) + 8);
	if (!bytes)
		return;
	length = strnlen(bytes, section.sh_size);
	crc_at = (length + 4) & ~(size_t)3;
	if (length && length < sizeof(facts->debuglink) && crc_at + 4 <= section.sh_size) {
		const uint8_t *c = (const uint8_t *)bytes + crc_at;

		memcpy(facts->debuglink, bytes, length + 1);
		facts->debuglink_crc =
			image->header.e_ident[EI_DATA] == ELFDATA2MSB
				? (uint32_t)c[0] << 24 | c[1] << 16 | c[2] << 8 | c[3]
				: (uint32_t)c[3] << 24 | c[2] << 16 | c[1] << 8 | c[0];
	}
	free(bytes);
}

void elf_image_identity(const struct elf_image *image, struct object_facts *facts)
{
	GElf_Shdr section;

	for (size_t i = 1; i < image->sections && !facts->build_id[0]; i++) {
		if (elf_section(image, i, &section))
			find_build_id(image, &section, facts);
	}
	find_debuglink(image, facts);
}

int elf_image_crc(const struct elf_image *image, uint32_t *out)
{
	uLong crc = crc32(0, NULL, 0);
	char buf[1 << 16];

	for (uint64_t at = 0; at < image->size; at += sizeof(buf)) {
		size_t size = image->size - at < sizeof(buf) ? image->size - at : sizeof(buf);
		int ret = elf_image_read(image, at, buf, size);

		if (ret < 0)
			return ret;
		crc = crc32(crc, (const Bytef *)buf, (uInt)size);
	}
	*out = (uint32_t)crc;
	return 0;
}
