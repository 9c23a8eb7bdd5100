// SPDX-License-Identifier: Apache-2.0
/* Query terminfo, in a file of its own, because <term.h> defines many common words as macros. */
#include <errno.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "cmd/top_terminal.h"

int top_terminal_check(struct error *err)
{
	const char *name = getenv("TERM");
	bool able;
	int found = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, -ENOTTY,
				 "top: needs a terminal; 'skein top -b' writes plain tables");
	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return error_set(err, -ENOTTY,
				 "top: the terminal '%s' is not known here: set TERM to one that "
				 "is, such as xterm, or use -b for plain tables",
				 name ? name : "");
	able = cursor_address && clear_screen;
	del_curterm(cur_term); /* newterm() makes another one */
	if (!able)
		return error_set(err, -ENOTTY,
				 "top: the terminal '%s' cannot place text: set TERM to what it "
				 "is, such as xterm, or use -b for plain tables",
				 name ? name : "");
	return 0;
}

/* Append a sequence to buf; return the used bytes. */
static size_t append_sequence(const char *sequence, char *buf, size_t used, size_t room)
{
	size_t more = sequence ? strlen(sequence) : 0;

	/* skip sequences with delays ($<5>), which a crash handler cannot wait for */
	if (!more || strstr(sequence, "$<") || used + more > room)
		return used;
	memcpy(buf + used, sequence, more);
	return used + more;
}

size_t top_terminal_restore(char *buf, size_t size)
{
	size_t used = append_sequence(exit_attribute_mode, buf, 0, size);

	used = append_sequence(keypad_local, buf, used, size);
	used = append_sequence(cursor_normal, buf, used, size);
	return append_sequence(exit_ca_mode, buf, used, size);
}
