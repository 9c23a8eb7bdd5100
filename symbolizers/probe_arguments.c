// SPDX-License-Identifier: Apache-2.0
/* Parse the arguments of USDT notes. */
#include "symbolizers/probe_arguments.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENT_MAX 256 /* bytes of the text of one argument */

/* The words of struct pt_regs of x86-64: arch/x86/include/asm/ptrace.h. */
enum { WORD_SP = 19, WORD_IP = 16 };

struct x86_register {
	const char *names[4]; /* of its 8, 4, 2 and 1 bytes */
	const char *high; /* of its second byte; NULL: it has no name */
	uint8_t word;
};

static const struct x86_register x86_registers[] = {
	{{"rax", "eax", "ax", "al"}, "ah", 10},	      {{"rcx", "ecx", "cx", "cl"}, "ch", 11},
	{{"rdx", "edx", "dx", "dl"}, "dh", 12},	      {{"rbx", "ebx", "bx", "bl"}, "bh", 5},
	{{"rsp", "esp", "sp", "spl"}, NULL, WORD_SP}, {{"rbp", "ebp", "bp", "bpl"}, NULL, 4},
	{{"rsi", "esi", "si", "sil"}, NULL, 13},      {{"rdi", "edi", "di", "dil"}, NULL, 14},
	{{"r8", "r8d", "r8w", "r8b"}, NULL, 9},	      {{"r9", "r9d", "r9w", "r9b"}, NULL, 8},
	{{"r10", "r10d", "r10w", "r10b"}, NULL, 7},   {{"r11", "r11d", "r11w", "r11b"}, NULL, 6},
	{{"r12", "r12d", "r12w", "r12b"}, NULL, 3},   {{"r13", "r13d", "r13w", "r13b"}, NULL, 2},
	{{"r14", "r14d", "r14w", "r14b"}, NULL, 1},   {{"r15", "r15d", "r15w", "r15b"}, NULL, 0},
	{{"rip", "eip", "ip", ""}, NULL, WORD_IP},
};

/* The text of one argument that is being parsed. */
struct argument {
	const char *at;
	const struct probe_arguments_context *context;
};

static bool take(struct argument *a, const char *text)
{
	size_t size = strlen(text);

	if (strncmp(a->at, text, size) != 0)
		return false;
	a->at += size;
	return true;
}

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$' || c == '@';
}

/* Take a name of at most 63 bytes that does not begin with a digit. */
static bool take_name(struct argument *a, char name[64])
{
	size_t size = 0;

	while (is_name_character(a->at[size]))
		size++;
	if (!size || size > 63 || (*a->at >= '0' && *a->at <= '9'))
		return false;
	memcpy(name, a->at, size);
	name[size] = '\0';
	a->at += size;
	return true;
}

/* Take a number, decimal or hexadecimal, with an optional sign. */
static bool take_number(struct argument *a, long long *out)
{
	const char *digits = a->at + (*a->at == '-' || *a->at == '+');
	char *end;
	long long value;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	/* a constant may be unsigned and larger than INT64_MAX: take its bits */
	value = *a->at == '-' ? strtoll(a->at, &end, 0) : (long long)strtoull(digits, &end, 0);
	if (errno)
		return false;
	*out = value;
	a->at = end;
	return true;
}

/* Take a register without its prefix; bytes: how many of it the name stands for. */
static bool take_x86_register(struct argument *a, uint8_t *word, uint8_t *bytes, uint8_t *shift)
{
	char name[64];

	*shift = 0;
	if (!take(a, "%") || !take_name(a, name))
		return false;
	for (size_t i = 0; i < sizeof(x86_registers) / sizeof(*x86_registers); i++) {
		const struct x86_register *r = &x86_registers[i];

		*word = r->word;
		for (unsigned int n = 0; n < 4; n++) {
			*bytes = (uint8_t)(8 >> n);
			if (!strcmp(name, r->names[n]))
				return true;
		}
		if (!r->high || strcmp(name, r->high) != 0)
			continue;
		*bytes = 1;
		*shift = 8;
		return true;
	}
	return false;
}

/* Take the displacement of an operand in memory: a sum of numbers and at most one symbol. */
static bool take_displacement(struct argument *a, long long *number, char symbol[64])
{
	long long one;

	*number = 0;
	symbol[0] = '\0';
	while (*a->at && *a->at != '(') {
		bool plus = take(a, "+");

		if (take_number(a, &one))
			*number = (long long)((uint64_t)*number + (uint64_t)one);
		else if (plus || !symbol[0]) {
			if (symbol[0] || !take_name(a, symbol))
				return false;
		} else {
			return false;
		}
	}
	return true;
}

static bool take_x86_scale(struct argument *a, struct probe_operand *o)
{
	long long scale = 1;

	if (take(a, ",") && !take_number(a, &scale))
		return false;
	for (o->shift = 0; o->shift < 4; o->shift++)
		if (scale == 1 << o->shift)
			return true;
	return false;
}

/* Take "(%base,%index,scale)", of which all parts but one register may be missing. */
static bool take_x86_address(struct argument *a, struct probe_operand *o)
{
	uint8_t bytes = 8, shift;

	if (!take(a, "("))
		return false;
	if (*a->at == '%' && (!take_x86_register(a, &o->base, &bytes, &shift) || bytes != 8))
		return false;
	if (take(a, ",") && (!take_x86_register(a, &o->index, &bytes, &shift) || bytes != 8 ||
			     !take_x86_scale(a, o)))
		return false;
	return take(a, ")") && (o->base != PROBE_NO_REGISTER || o->index != PROBE_NO_REGISTER) &&
	       o->index != WORD_SP && o->index != WORD_IP;
}

/*
 * Make the displacement of a symbol one from the probe, whose address is known when it is hit. The
 * assembler's symbol(%rip) is the symbol itself, whatever the address of the next instruction is.
 */
static bool resolve_symbol(const struct argument *a, struct probe_operand *o, const char *symbol)
{
	const struct probe_arguments_context *c = a->context;
	uint64_t address;

	if (o->base != WORD_IP || o->index != PROBE_NO_REGISTER || !c->symbol ||
	    !c->symbol(c->context, symbol, &address))
		return false;
	o->value = (long long)((uint64_t)o->value + address - c->address);
	return true;
}

static bool parse_x86(struct probe_operand *o, struct argument *a)
{
	char symbol[64];

	if (take(a, "$")) {
		o->kind = PROBE_OPERAND_CONSTANT;
		return take_number(a, &o->value);
	}
	if (*a->at == '%') {
		uint8_t bytes;

		o->kind = PROBE_OPERAND_REGISTER;
		if (!take_x86_register(a, &o->base, &bytes, &o->shift))
			return false;
		o->bytes = o->bytes ? o->bytes : bytes;
		return true;
	}
	o->kind = PROBE_OPERAND_MEMORY;
	if (!take_displacement(a, &o->value, symbol) || !take_x86_address(a, o))
		return false;
	/* a plain number beside %rip would count from an unknown instruction */
	return symbol[0] ? resolve_symbol(a, o, symbol) : o->base != WORD_IP;
}

static bool take_arm_register(struct argument *a, uint8_t *word, uint8_t *bytes)
{
	long long number;

	*bytes = 8;
	*word = 31;
	if (take(a, "sp"))
		return true;
	if (*a->at != 'x' && *a->at != 'w')
		return false;
	*bytes = *a->at++ == 'x' ? 8 : 4;
	if (*a->at < '0' || *a->at > '9' || !take_number(a, &number) || number > 30)
		return false;
	*word = (uint8_t)number;
	return true;
}

static void skip_spaces(struct argument *a)
{
	while (*a->at == ' ')
		a->at++;
}

/* Take "[x0]", "[sp, 12]", "[x0, x1]" or "[x0, x1, lsl 3]". */
static bool take_arm_address(struct argument *a, struct probe_operand *o)
{
	uint8_t bytes;
	long long shift;

	if (!take_arm_register(a, &o->base, &bytes) || bytes != 8)
		return false;
	if (take(a, ",")) {
		skip_spaces(a);
		(void)take(a, "#");
		if (!take_number(a, &o->value) &&
		    (!take_arm_register(a, &o->index, &bytes) || bytes != 8))
			return false;
	}
	if (o->index != PROBE_NO_REGISTER && take(a, ",")) {
		skip_spaces(a);
		if (!take(a, "lsl "))
			return false;
		(void)take(a, "#");
		if (!take_number(a, &shift) || shift < 0 || shift > 4)
			return false;
		o->shift = (uint8_t)shift;
	}
	return take(a, "]");
}

static bool parse_arm(struct probe_operand *o, struct argument *a)
{
	uint8_t bytes;

	if (take(a, "[")) {
		o->kind = PROBE_OPERAND_MEMORY;
		return take_arm_address(a, o);
	}
	o->kind = PROBE_OPERAND_CONSTANT;
	(void)take(a, "#");
	if (take_number(a, &o->value))
		return true;
	o->kind = PROBE_OPERAND_REGISTER;
	if (!take_arm_register(a, &o->base, &bytes))
		return false;
	o->bytes = o->bytes ? o->bytes : bytes;
	return true;
}

/* Take "-4@"; without it the number of bytes follows from the operand. */
static bool take_size(struct argument *a, struct probe_operand *o)
{
	const char *begin = a->at;
	long long size;

	if (!take_number(a, &size) || *a->at != '@') {
		/* "8f@" is a floating-point number */
		bool other = *a->at == 'f' || *a->at == '@';

		a->at = begin;
		return !other;
	}
	a->at++;
	o->is_signed = size < 0;
	size = size < 0 ? -size : size;
	o->bytes = (uint8_t)size;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static struct probe_operand parse_argument(const char *text,
					   const struct probe_arguments_context *c)
{
	const struct probe_operand none = {.kind = PROBE_OPERAND_NONE,
					   .bytes = 8,
					   .base = PROBE_NO_REGISTER,
					   .index = PROBE_NO_REGISTER};
	struct argument a = {text, c};
	struct probe_operand o = none;
	bool valid;

	o.bytes = 0;
	valid = take_size(&a, &o) &&
		(c->machine == EM_AARCH64 ? parse_arm(&o, &a) : parse_x86(&o, &a)) && !*a.at;
	if (!valid)
		return none;
	o.bytes = o.bytes ? o.bytes : 8;
	return o;
}

/* Return the bytes of the next argument: up to a space that is in no brackets. */
static size_t argument_size(const char *text)
{
	bool inside = false;
	size_t size = 0;

	for (; text[size] && (inside || text[size] != ' '); size++)
		inside = text[size] == '[' || (inside && text[size] != ']');
	return size;
}

unsigned int probe_arguments_parse(struct probe_operand out[PROBE_OPERANDS_MAX], const char *text,
				   const struct probe_arguments_context *c)
{
	unsigned int count = 0;
	char one[ARGUMENT_MAX];

	while (count < PROBE_OPERANDS_MAX) {
		size_t size;

		text += strspn(text, " ");
		size = argument_size(text);
		if (!size)
			break;
		/* a text that is too long is cut, and not understood then */
		snprintf(one, sizeof(one), "%.*s", (int)(size < sizeof(one) ? size : sizeof(one)),
			 text);
		out[count++] = parse_argument(size < sizeof(one) ? one : "", c);
		text += size;
	}
	return count;
}

static struct probe_operand operand_of_word(uint8_t word)
{
	return (struct probe_operand){.kind = PROBE_OPERAND_REGISTER,
				      .bytes = 8,
				      .base = word,
				      .index = PROBE_NO_REGISTER};
}

unsigned int probe_arguments_of_entry(struct probe_operand out[PROBE_OPERANDS_MAX],
				      uint16_t machine)
{
	static const uint8_t x86[] = {14, 13, 12, 11, 9, 8}; /* rdi, rsi, rdx, rcx, r8, r9 */
	unsigned int count = machine == EM_AARCH64 ? 8 : sizeof(x86);

	for (unsigned int i = 0; i < count; i++)
		out[i] = operand_of_word(machine == EM_AARCH64 ? (uint8_t)i : x86[i]);
	return count;
}

unsigned int probe_arguments_of_return(struct probe_operand out[PROBE_OPERANDS_MAX],
				       uint16_t machine)
{
	out[0] = operand_of_word(machine == EM_AARCH64 ? 0 : 10); /* x0, rax */
	return 1;
}
