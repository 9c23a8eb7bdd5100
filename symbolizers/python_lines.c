// SPDX-License-Identifier: Apache-2.0
/*
 * Find the line of a place in Python code, in the three formats that tables of lines have had.
 * Tables are read from their start, since lines are differences to the previous line. A place after
 * the end of the table has no line, except up to 3.9, where it has the last line.
 */
#include <stdbool.h>

#include "symbolizers/python_code.h"

#define UNIT_BYTES 2
#define NO_UNIT 0xffffffffu

/*
 * Return the line, or 0 if it is not a positive C int, as lines are in the interpreter: then the
 * table is invalid.
 */
static uint32_t line_checked(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/*
 * Find a line in co_lnotab (up to 3.9): pairs of increments, of bytes of code and of lines
 * (signed). Several pairs for the same code add up.
 */
static uint32_t line_of_lnotab(const uint8_t *p, size_t size, int64_t line, uint64_t byte)
{
	uint64_t at = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		at += p[i];
		if (at > byte)
			break;
		line += (int8_t)p[i + 1];
	}
	return line_checked(line);
}

/*
 * Find a line in co_linetable of 3.10: pairs of a number of bytes of code and the difference of
 * their line to the previous line; -128: these bytes have no line.
 */
static uint32_t line_of_table(const uint8_t *p, size_t size, int64_t line, uint64_t byte)
{
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		bool none = (int8_t)p[i + 1] == -128;

		end += p[i];
		if (!none)
			line += (int8_t)p[i + 1];
		if (end > byte)
			return none ? 0 : line_checked(line);
	}
	return 0;
}

/*
 * An entry of co_linetable from 3.11 on, where an entry describes the location of some code units.
 * Its first byte has a bit that is clear in all other bytes, the kind, and the number of code units
 * less one.
 */
#define ENTRY_BEGIN 0x80
#define ENTRY_KIND(byte) ((byte) >> 3 & 15)
#define ENTRY_UNITS(byte) (((byte)&7) + 1u)
#define VARINT_MORE 0x40
#define VARINT_BITS 6

enum entry_kind { /* kinds below 10: the same line as before, columns in few bits */
		  ENTRY_ONE_LINE = 10, /* 10 to 12: the line is the kind less 10 lines further */
		  ENTRY_NO_COLUMNS = 13,
		  ENTRY_LONG = 14,
		  ENTRY_NONE = 15,
};

/*
 * Decode a signed number: 6 bits in each byte, lowest bits first; VARINT_MORE: another byte
 * follows. The lowest bit of the decoded bits is the sign. The number also ends at the next entry.
 */
static int64_t signed_varint(const uint8_t *p, const uint8_t *end)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; p < end && *p < ENTRY_BEGIN && shift < 32;
	     shift += VARINT_BITS) {
		value |= (uint32_t)(*p & (VARINT_MORE - 1)) << shift;
		if (!(*p++ & VARINT_MORE))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t line_delta(const uint8_t *entry, const uint8_t *end)
{
	unsigned int kind = ENTRY_KIND(*entry);

	if (kind == ENTRY_NO_COLUMNS || kind == ENTRY_LONG)
		return signed_varint(entry + 1, end);
	return kind > ENTRY_ONE_LINE && kind < ENTRY_NO_COLUMNS ? kind - ENTRY_ONE_LINE : 0;
}

static uint32_t line_of_locations(const uint8_t *p, size_t size, int64_t line, uint64_t unit)
{
	const uint8_t *end = p + size;
	uint64_t passed = 0;

	while (p < end) {
		const uint8_t *entry = p++;

		if (!(*entry & ENTRY_BEGIN))
			continue;
		line += line_delta(entry, end);
		passed += ENTRY_UNITS(*entry);
		if (passed > unit)
			return ENTRY_KIND(*entry) == ENTRY_NONE ? 0 : line_checked(line);
	}
	return 0;
}

uint32_t python_line_of(uint8_t kind, const uint8_t *lines, size_t size, uint32_t first_line,
			uint32_t unit)
{
	int64_t line = (int32_t)first_line;

	if (unit == NO_UNIT)
		return line_checked(line);
	switch (kind) {
	case PYTHON_LINES_LNOTAB:
		return line_of_lnotab(lines, size, line, (uint64_t)unit * UNIT_BYTES);
	case PYTHON_LINES_TABLE:
		return line_of_table(lines, size, line, (uint64_t)unit * UNIT_BYTES);
	case PYTHON_LINES_LOCATIONS:
		return line_of_locations(lines, size, line, unit);
	}
	return 0;
}
