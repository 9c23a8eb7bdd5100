// SPDX-License-Identifier: Apache-2.0
/* xml.c: its output is valid XML 1.0 text for any input bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xml.h"
#include "suite.h"
#include "synthetic.h"

/* Return the text as written by xml_put(); the caller frees it. */
static char *escaped(const char *text)
{
	char *made = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&made, &size);

	xml_put(out, text);
	fclose(out);
	ck_assert_uint_eq(size, xml_size(text));
	return made;
}

static void check(const char *text, const char *should)
{
	char *made = escaped(text);

	ck_assert_str_eq(made, should);
	free(made);
}

START_TEST(known_texts)
{
	check("", "");
	check("plain text\t1", "plain text\t1");
	check("</script><b a='\"'>&amp;", "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;amp;");
	check("]]>", "]]&gt;");
	check("\x1b[2J\x01\x7f", "\ufffd[2J\ufffd\x7f");
	check("a\xff\xc3(", "a\ufffd\ufffd(");
	check("\xed\xa0\x80", "\ufffd\ufffd\ufffd"); /* one half of a surrogate pair */
	check("\xef\xbf\xbe\xef\xbf\xbf", "\ufffd\ufffd"); /* U+FFFE, U+FFFF */
	check("\xf0\x9f\x94\xa5\xe2\x80\xa8", "\U0001f525\u2028");
	check("\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"); /* beyond the last code point */
}
END_TEST

/* Return whether a character is allowed by production 2 of XML 1.0. */
static bool has_place(uint32_t c)
{
	return c == '\t' || c == '\n' || (c >= 0x20 && c <= 0xd7ff) ||
	       (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

START_TEST(any_bytes)
{
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
	uint64_t seed = 17;

	for (int i = 0; i < 20000; i++) {
		char text[24] = "", *made;

		for (int k = 0; k < 23; k++)
			text[k] = (char)(synthetic_random(&seed) >> (k % 2 ? 20 : 33));
		made = escaped(text);
		for (const char *at = made; *at;) {
			bool entity = *at != '&';

			for (int e = 0; e < 5; e++)
				entity = entity || !strncmp(at, entities[e], strlen(entities[e]));
			ck_assert(entity && !strchr("<>\"'", *at));
			ck_assert(has_place(text_next(&at)));
		}
		free(made);
	}
}
END_TEST

SUITE("xml", known_texts, any_bytes)
