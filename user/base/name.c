// SPDX-License-Identifier: Apache-2.0
/*
 * Shorten names of functions (name.h). The grammar is that of libiberty's demangler, without a
 * parser: only brackets, commas and blanks outside of brackets matter. A name that does not follow
 * it keeps what is not understood.
 */
#include "base/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

#define NAME_BYTES 4096 /* longer names stay as they are, apart from being cut */
#define NESTING_MAX 128 /* open brackets; arguments of deeper ones stay */
#define ARGUMENTS_MAX 512 /* arguments of all open brackets; further ones are never left out */
#define ELLIPSIS "\xe2\x80\xa6"

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/*
 * Return the length of an operator's name at text, such as "operator<<" or "operator()", whose
 * brackets are no brackets; 0 if there is none. before: the byte before text.
 */
static size_t operator_length(const char *text, char before)
{
	static const char word[] = "operator";
	size_t length = sizeof(word) - 1;

	if (is_word_byte(before) || !starts_with(text, word) || is_word_byte(text[length]))
		return 0;
	if (starts_with(text + length, "()") || starts_with(text + length, "[]"))
		return length + 2;
	return length + strspn(text + length, "<>=-+*/%^&|~!,");
}

/*
 * Return the end of the bracket that opens at text, or NULL if it does not close. Only the kind of
 * the first bracket counts, and "->" and operators contain no bracket.
 */
static const char *bracket_end(const char *text)
{
	static const char opening[] = "(<[{", closing[] = ")>]}";
	const char open = *text, close = closing[strchr(opening, open) - opening];
	unsigned int depth = 0;
	char before = ' ';

	while (*text) {
		size_t skip = operator_length(text, before);

		if (skip) {
			before = 'r';
			text += skip;
			continue;
		}
		if (*text == open)
			depth++;
		else if (*text == close && before != '-' && !--depth)
			return text + 1;
		before = *text++;
	}
	return NULL;
}

/*
 * Return where the name begins after the return type that templates have, "void f<int>(int)". A
 * blank outside of brackets ends the type, if a list of parameters follows directly after a word
 * or a bracket.
 */
static const char *skip_return_type(const char *name)
{
	const char *at = name, *start = name;
	char before = ' ';

	while (*at) {
		size_t skip = operator_length(at, before);

		if (skip) /* blanks after it may belong to it: "operator unsigned int" */
			return start;
		if (*at == '(' && !starts_with(at, "(anonymous namespace)") &&
		    !(at - name >= 9 && starts_with(at - 9, "decltype ")))
			return is_word_byte(before) || before == '>' || before == '}' ? start
										      : name;
		if (strchr("(<[{", *at)) {
			const char *end = bracket_end(at);

			if (!end)
				return name;
			at = end;
			before = at[-1];
			continue;
		}
		if (*at == ' ' && at - name >= 8 && starts_with(at - 8, "thunk to"))
			return name;
		if (*at == ' ')
			start = at + 1;
		before = *at++;
	}
	return name;
}

/* The name that is being written, and the brackets that are open in it. */
struct shortening {
	char *buf;
	size_t used;
	unsigned int depth, arguments;
	struct {
		char kind;
		unsigned int first; /* its first argument in starts[] */
	} open[NESTING_MAX];
	uint16_t starts[ARGUMENTS_MAX]; /* where arguments begin in buf */
};

static bool ends_with(const struct shortening *s, const char *text)
{
	size_t length = strlen(text);

	return s->used >= length && !memcmp(s->buf + s->used - length, text, length);
}

/* Return whether an argument is what the language puts there by default, given the first one. */
static bool is_default_argument(const char *text, size_t size, const char *first, size_t first_size)
{
	static const char *const of_first[] = {
		"std::allocator<",
		"std::char_traits<",
		"std::less<",
		"std::equal_to<",
		"std::hash<",
		"std::default_delete<",
		"std::allocator<std::pair<",
	};
	static const char *const always[] = {
		"alloc::alloc::Global",
		"std::collections::hash::map::RandomState",
		"std::collections::hash_map::RandomState",
		"std::hash::random::RandomState",
	};

	for (size_t i = 0; i < sizeof(of_first) / sizeof(of_first[0]); i++) {
		size_t head = strlen(of_first[i]), end = head + first_size;

		if (size > end && !memcmp(text, of_first[i], head) &&
		    !memcmp(text + head, first, first_size) &&
		    (text[end] == '>' || starts_with(text + end, " const")))
			return true;
	}
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (size == strlen(always[i]) && !memcmp(text, always[i], size))
			return true;
	return false;
}

/* Leave out the last arguments of the innermost bracket as far as they are defaults. */
static void drop_default_arguments(struct shortening *s)
{
	unsigned int first = s->open[s->depth - 1].first;
	const uint16_t *starts = s->starts;

	while (s->arguments > first + 1) {
		size_t last = starts[s->arguments - 1];
		size_t first_size = starts[first + 1] - starts[first] - strlen(", ");

		s->buf[s->used] = '\0';
		if (!is_default_argument(s->buf + last, s->used - last, s->buf + starts[first],
					 first_size))
			return;
		s->used = last - strlen(", ");
		s->arguments--;
	}
}

/* "std::basic_string<char>" is the type that everybody calls std::string. */
static void name_string_types(struct shortening *s)
{
	static const char *const types[] = {
		"string",    "string_view",   "ostream",       "istream",      "iostream",
		"streambuf", "ostringstream", "istringstream", "stringstream", "ofstream",
		"ifstream",  "fstream",	      "filebuf",       "ios",	       "stringbuf",
	};

	for (size_t i = 0; ends_with(s, "<char>") && i < sizeof(types) / sizeof(types[0]); i++) {
		size_t length = strlen(types[i]);
		char whole[64];

		snprintf(whole, sizeof(whole), "std::basic_%s<char>", types[i]);
		if (!ends_with(s, whole))
			continue;
		s->used -= strlen(whole) - strlen("std::");
		memcpy(s->buf + s->used, types[i], length);
		s->used += length;
		return;
	}
}

static void open_bracket(struct shortening *s, char kind)
{
	s->open[s->depth].kind = kind;
	s->open[s->depth++].first = s->arguments;
	s->starts[s->arguments++] = (uint16_t)s->used;
}

static void put_closing(struct shortening *s, char c, char kind)
{
	if (c == '>') {
		s->used -= ends_with(s, " "); /* the demangler writes "> >" */
		drop_default_arguments(s);
	}
	s->arguments = s->open[s->depth - 1].first;
	s->depth -= s->open[s->depth - 1].kind == kind;
	s->buf[s->used++] = c;
	if (c == '>')
		name_string_types(s);
}

/* Close the innermost bracket of a kind; brackets inside of it that did not close were none. */
static void close_bracket(struct shortening *s, char c, char kind)
{
	unsigned int depth = s->depth;

	while (depth && s->open[depth - 1].kind != kind && c != '>')
		depth--;
	if (!depth || s->open[depth - 1].kind != kind) {
		s->buf[s->used++] = c;
		return;
	}
	s->depth = depth;
	put_closing(s, c, kind);
}

static void put_byte(struct shortening *s, char c)
{
	static const char opening[] = "(<[{", closing[] = ")>]}";
	const char *bracket;

	if (c == '>' && s->used && s->buf[s->used - 1] == '-') /* "->" */
		bracket = NULL;
	else
		bracket = strchr(closing, c);
	if (bracket) {
		close_bracket(s, c, opening[bracket - closing]);
		return;
	}
	s->buf[s->used++] = c;
	if (strchr(opening, c))
		open_bracket(s, c);
	else if (c == ' ' && s->depth && s->open[s->depth - 1].kind == '<' && ends_with(s, ", "))
		s->starts[s->arguments++] = (uint16_t)s->used;
	else if (c == ':' && (ends_with(s, "std::__cxx11::") || ends_with(s, "std::__1::")))
		s->used -= ends_with(s, "std::__1::") ? strlen("__1::") : strlen("__cxx11::");
}

/* Copy the name without default arguments; return false if it nests too deep. */
static bool shorten_arguments(struct shortening *s, const char *name)
{
	char before = ' ';

	while (*name && s->depth + 1 < NESTING_MAX && s->arguments + 1 < ARGUMENTS_MAX) {
		size_t skip = operator_length(name, before);

		if (skip) {
			memcpy(s->buf + s->used, name, skip);
			s->used += skip;
			name += skip;
			before = 'r';
			continue;
		}
		before = *name;
		put_byte(s, *name++);
	}
	s->buf[s->used] = '\0';
	return !*name;
}

char *name_short(const char *name, char *buf, size_t size)
{
	char whole[NAME_BYTES + 1];
	struct shortening s = {.buf = whole};
	int indent = (int)strspn(name, " "); /* of a line of a tree */
	bool known = strnlen(name, NAME_BYTES) < NAME_BYTES && strpbrk(name, "(<");
	const char *from = known ? skip_return_type(name + indent) : name + indent;

	if (known && shorten_arguments(&s, from))
		from = whole;
	snprintf(buf, size, "%*s%s", indent, "", from);
	return buf;
}

/*
 * Return the end of the bracket at text if its contents may be left out, NULL if not. before: the
 * byte before it. "(anonymous namespace)", the type at the front of a name of Rust and the file
 * behind a name of Python stay. *unclosed becomes true after a bracket that does not close, so that
 * the rest of such a name is not searched again and again.
 */
static const char *omissible_end(const char *text, char before, bool *unclosed)
{
	bool follows = is_word_byte(before) || before == '>' || before == ':' || before == ')';
	const char *end = follows && !*unclosed ? bracket_end(text) : NULL;
	bool is_longer = end && (size_t)(end - text) > strlen("(" ELLIPSIS ")");

	*unclosed = *unclosed || (follows && !end);
	return is_longer && !starts_with(text, "(anonymous namespace)") ? end : NULL;
}

/* Copy name with the contents of each bracket of the kind open left out, except for operators. */
static void leave_out(const char *name, char open, char *buf)
{
	bool unclosed = false;
	char before = ' ';
	size_t used = 0;

	while (*name) {
		size_t size = operator_length(name, before);
		const char *end = *name == open ? omissible_end(name, before, &unclosed) : NULL;

		size = size ? size : 1;
		if (end) {
			used += (size_t)sprintf(buf + used, "%c" ELLIPSIS, open);
			name = end - 1;
		}
		memcpy(buf + used, name, size);
		used += size;
		before = size > 1 ? 'r' : *name;
		name += size;
	}
	buf[used] = '\0';
}

/* Cut a clean text in its middle; two thirds of the columns are for its front. */
static void cut_middle(const char *text, unsigned int columns, char *buf, size_t size)
{
	char front[NAME_BYTES], back[NAME_BYTES];
	unsigned int head = columns * 2 / 3;

	if (text_width(text) <= columns || columns < 8) {
		text_fit(text, columns, false, buf, size);
		return;
	}
	text_fit(text, head, false, front, sizeof(front));
	text_fit(text, columns - head + 1, true, back, sizeof(back));
	/* both have the mark of the cut, of which one is enough */
	snprintf(buf, size, "%s%s", front, back + strlen(ELLIPSIS));
}

char *name_form(const char *name, enum name_form form, char *buf, size_t size)
{
	char first[NAME_BYTES + 1], second[NAME_BYTES + 1];

	if (form != NAME_WHOLE && strnlen(name, NAME_BYTES) < NAME_BYTES) {
		leave_out(name, '(', first);
		name = first;
		if (form == NAME_WITHOUT_ARGUMENTS) {
			leave_out(first, '<', second);
			name = second;
		}
	}
	snprintf(buf, size, "%s", name);
	return buf;
}

char *name_fit(const char *name, unsigned int columns, char *buf, size_t size)
{
	char fitting[NAME_BYTES + 1];

	if (text_width(name) <= columns || strlen(name) >= NAME_BYTES) {
		cut_middle(name, columns, buf, size);
		return buf;
	}
	for (int form = NAME_WITHOUT_PARAMETERS; form < NAME_FORMS; form++)
		if (text_width(name_form(name, form, fitting, sizeof(fitting))) <= columns)
			break;
	cut_middle(fitting, columns, buf, size);
	return buf;
}
