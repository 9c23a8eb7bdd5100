// SPDX-License-Identifier: Apache-2.0
/*
 * The page for skein view: that of an export but for its data, which it fetches from the server
 * that sent it. Its policy allows that and nothing more.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/page_parts.h"

#define POLICY_BEGINS "http-equiv=\"Content-Security-Policy\" content=\""
#define FETCHES "default-src 'none'; connect-src 'self'"
#define NO_FRAMES "; frame-ancestors 'none'" /* browsers take this from a header only */

/* Return the part of the page's head that begins at, or after, a text that it has. */
static const char *shell_find(const char *text, bool behind)
{
	const char *at = memmem(page_parts.head, page_parts.head_size, text, strlen(text));

	return at && behind ? at + strlen(text) : at;
}

/* Write the policy of a page from a file, which begins there, with leave to ask its server. */
static void shell_put_policy(FILE *out, const char *policy, size_t size)
{
	const size_t replaced = strlen("default-src 'none'");

	fputs(FETCHES, out);
	fwrite(policy + replaced, 1, size - replaced, out);
}

static int shell_write(struct html_shell *s, FILE *out)
{
	const char *head = page_parts.head, *policy = shell_find(POLICY_BEGINS, true);
	const char *end = policy ? memchr(policy, '"', head + page_parts.head_size - policy) : NULL;
	size_t size;
	FILE *header;

	if (!end || strncmp(policy, "default-src 'none'", strlen("default-src 'none'")))
		return -EINVAL; /* user/view/page.html was changed */
	header = open_memstream(&s->policy, &size);
	if (!header)
		return -ENOMEM;
	shell_put_policy(header, policy, end - policy);
	fputs(NO_FRAMES, header);
	fwrite(head, 1, policy - head, out);
	shell_put_policy(out, policy, end - policy);
	fwrite(end, 1, head + page_parts.head_size - end, out);
	fputs("{\"feed\":true}", out);
	fwrite(page_parts.tail, 1, page_parts.tail_size, out);
	return fclose(header) ? -ENOMEM : 0;
}

int html_shell_make(struct html_shell *out)
{
	struct html_shell s = {0};
	FILE *page = open_memstream(&s.page, &s.size);
	int ret;

	if (!page)
		return -ENOMEM;
	ret = shell_write(&s, page);
	if (fclose(page) && !ret)
		ret = -ENOMEM;
	if (ret < 0)
		html_shell_free(&s);
	else
		*out = s;
	return ret;
}

void html_shell_free(struct html_shell *s)
{
	free(s->page);
	free(s->policy);
	*s = (struct html_shell){0};
}
