// SPDX-License-Identifier: Apache-2.0
/* Read perf maps. An invalid line is counted and skipped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "symbolizers/lines.h"
#include "symbolizers/perfmap.h"

#define NAME_MAX_BYTES 4096 /* the rest of a longer name is cut off */

/*
 * Add the function of a line. Return 0 (also for an invalid line, which is counted) or a negative
 * errno.
 */
static int add_perfmap_line(struct perfmap *m, const struct text_line *line)
{
	const char *p = line->text, *end = p + line->length;
	struct symbol_range r = {.rank = (uint32_t)m->symbols.ranges.count};
	uint64_t size;
	int64_t name;

	m->lines++;
	if (end > p && end[-1] == '\r')
		end--;
	if (line->too_long || !lines_parse_hex(&p, end, &r.start) ||
	    !lines_parse_hex(&p, end, &size) || p == end || !size || size > SYMBOL_SIZE_MAX ||
	    memchr(p, '\0', (size_t)(end - p)) || __builtin_add_overflow(r.start, size, &r.end)) {
		m->bad_lines++;
		return 0;
	}
	name = symtab_add_name(&m->symbols, p,
			       end - p > NAME_MAX_BYTES ? NAME_MAX_BYTES : (size_t)(end - p));
	if (name < 0)
		return (int)name;
	r.name = (uint32_t)name;
	m->dirty = true;
	return symtab_add(&m->symbols, &r);
}

static int read_perfmap_lines(struct perfmap *m, struct lines *lines)
{
	struct text_line line;
	int ret = 0;

	while ((ret = lines_next(lines, &line)) > 0) {
		ret = add_perfmap_line(m, &line);
		if (ret < 0)
			break;
		m->offset = lines->offset;
	}
	/*
	 * Bytes left in the buffer are the start of a last line without a newline. If they reach
	 * the limit, the rest of the file is never read.
	 */
	if (ret != -E2BIG && lines->offset + (lines->end - lines->first) < PERFMAP_BYTES_MAX)
		return ret;
	m->full = true;
	m->bad_lines++;
	return 0;
}

int perfmap_read(struct perfmap *m, int fd, struct object_facts *facts, struct heartbeat *b)
{
	struct lines *lines = NULL;
	struct stat st;
	int ret = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (st.st_dev != m->device || st.st_ino != m->inode || (uint64_t)st.st_size < m->offset) {
		perfmap_free(m);
		*m = (struct perfmap){.device = st.st_dev, .inode = st.st_ino};
	}
	if (!m->full && (uint64_t)st.st_size > m->offset) {
		lines = malloc(sizeof(*lines));
		if (!lines)
			return -ENOMEM;
		*lines = (struct lines){
			.fd = fd, .offset = m->offset, .limit = PERFMAP_BYTES_MAX, .heartbeat = b};
		ret = read_perfmap_lines(m, lines);
		free(lines);
	}
	facts->symbols = m->symbols.ranges.count;
	facts->bad_lines = m->bad_lines;
	return ret;
}

void perfmap_free(struct perfmap *m)
{
	symtab_free(&m->symbols);
}

bool perfmap_find(struct perfmap *m, uint64_t address, struct found_symbol *out)
{
	if (m->dirty && symtab_build(&m->symbols) == 0)
		m->dirty = false;
	*out = (struct found_symbol){.name = ""};
	return symtab_find(&m->symbols, address, out);
}

size_t perfmap_bytes(const struct perfmap *m)
{
	return symtab_bytes(&m->symbols);
}
