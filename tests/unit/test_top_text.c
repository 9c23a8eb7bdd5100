// SPDX-License-Identifier: Apache-2.0
/* Names as cells of a terminal: what is cut where, and what must not get there. */
#include <locale.h>
#include <string.h>

#include "cmd/top_text.h"
#include "suite.h"

static struct top_text t;

static void check(const char *text, unsigned int columns, enum top_cut cut, bool utf8,
		  const wchar_t *expected)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	top_text(&t, text, columns, cut, utf8);
	ck_assert_uint_le(t.columns, columns);
	if (wcscmp(t.cells, expected) != 0)
		ck_abort_msg("'%s' in %u columns is '%ls', not '%ls'", text, columns, t.cells,
			     expected);
}

START_TEST(cut_where_asked)
{
	check("function", 8, TOP_CUT_END, true, L"function");
	ck_assert(!t.cut);
	check("function", 5, TOP_CUT_END, true, L"func…");
	ck_assert(t.cut);
	check("function", 5, TOP_CUT_FRONT, true, L"…tion");
	check("std::vector<int>::at()", 13, TOP_CUT_MIDDLE, true, L"std::vec…at()");
	check("function", 5, TOP_CUT_END, false, L"func~");
	check("function", 1, TOP_CUT_MIDDLE, true, L"…");
	check("function", 0, TOP_CUT_MIDDLE, true, L"");
	check("", 5, TOP_CUT_MIDDLE, true, L"");
}
END_TEST

START_TEST(wide_characters)
{
	check("日本語", 6, TOP_CUT_END, true, L"日本語");
	ck_assert_uint_eq(t.columns, 6);
	check("日本語", 5, TOP_CUT_END, true, L"日本…");
	check("日本語", 4, TOP_CUT_END, true, L"日…");
	check("日本語", 6, TOP_CUT_END, false, L"???");
}
END_TEST

START_TEST(harmless)
{
	check("a\033[31mb", 20, TOP_CUT_END, true, L"a?[31mb");
	check("a\xc2\x9b"
	      "31m",
	      20, TOP_CUT_END, true, L"a?31m"); /* CSI as one character */
	check("a\xe2\x80\x8b"
	      "b",
	      20, TOP_CUT_END, true,
	      L"a\xfffd"
	      L"b"); /* of no width */
	check("e\xcc\x81", 20, TOP_CUT_END, true, L"e\xfffd"); /* an accent */
	check("\xd7\x90\xd8\xa7", 20, TOP_CUT_END, true, L"\xfffd\xfffd"); /* to the left */
	check("a\xe2\x80\xae"
	      "b",
	      20, TOP_CUT_END, true,
	      L"a\xfffd"
	      L"b"); /* override */
	check("a\xff\xfe", 20, TOP_CUT_END, true, L"a\xfffd\xfffd"); /* no UTF-8 */
	check("a\xc3\xa9\n", 20, TOP_CUT_END, false, L"a??");
}
END_TEST

START_TEST(longer_than_all)
{
	static char text[100000];

	memset(text, 'x', sizeof(text) - 1);
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	top_text(&t, text, UINT16_MAX, TOP_CUT_MIDDLE, true);
	ck_assert_uint_le(wcslen(t.cells), TOP_TEXT_CELLS);
	top_text(&t, text, 10, TOP_CUT_MIDDLE, true);
	ck_assert_uint_eq(t.columns, 10);
}
END_TEST

SUITE("top text", cut_where_asked, wide_characters, harmless, longer_than_all)
