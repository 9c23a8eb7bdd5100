// SPDX-License-Identifier: Apache-2.0
/*
 * Make unwind tables. The first byte chooses what the rest is: a complete ELF file, or the
 * .eh_frame section of an otherwise valid file, for x86-64 or AArch64, whose code consists of the
 * same bytes.
 */
#include "fuzz.h"
#include "tests/unit/elf_maker.h"
#include "tests/unit/table_find.h"

#define CODE_MAX 512

static int open_input(const uint8_t *data, size_t size)
{
	uint16_t machine = *data & 2 ? EM_AARCH64 : EM_X86_64;
	struct made m;
	int fd;

	if (!(*data & 1))
		return fuzz_file(data + 1, size - 1);
	m = made_elf(machine, data, size < CODE_MAX ? size : CODE_MAX, data + 1, size - 1);
	fd = fuzz_file(m.bytes, m.size);
	free(m.bytes);
	return fd;
}

/*
 * Check a table that was made, which must be valid; then change it, and use it if it is still
 * accepted.
 */
static void use(uint8_t *bytes, size_t size, const uint8_t *data, size_t data_size)
{
	struct unwind_table t;

	if (unwind_table_check(&t, bytes, size))
		abort();
	for (uint64_t offset = 0; offset < 1 << 20; offset += 997)
		(void)unwind_table_find(&t, offset);
	for (size_t i = 0; i + 1 < data_size && i < 64; i += 2)
		bytes[data[i] % size] ^= data[i + 1];
	if (unwind_table_check(&t, bytes, size))
		return;
	for (uint64_t offset = 0; offset < 1 << 20; offset += 997)
		(void)unwind_table_find(&t, offset);
	(void)unwind_table_find(&t, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stamp stamp = {0};
	struct unwind_key key;
	void *bytes;
	size_t made;
	int fd, rc;

	if (!size)
		return 0;
	fd = open_input(data, size);
	(void)stamp_of(fd, &stamp);
	rc = unwind_table_make(&bytes, &made, NULL,
			       &(struct stamped_file){.fd = fd, .stamp = stamp});
	/* Every file with a table has a key. */
	if (unwind_key_read(&key, &(struct stamped_file){.fd = fd, .stamp = stamp}) && !rc)
		abort();
	if (!rc) {
		use(bytes, made, data, size);
		free(bytes);
	}
	close(fd);
	return 0;
}
