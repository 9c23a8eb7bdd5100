// SPDX-License-Identifier: Apache-2.0
/* Control the terminal of `skein top` through ncurses. */
#include "cmd/top_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/top_terminal.h"

#define RESTORE_MAX 256

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

/*
 * State of the terminal. A crash may come at any moment, so the signal handler's data is prepared
 * in advance.
 */
static struct {
	SCREEN *screen; /* NULL if the screen is not open */
	bool utf8, colors;
	struct termios before; /* terminal settings to restore */
	char restore[RESTORE_MAX]; /* escape sequences that restore the terminal */
	size_t restore_size;
	int errors; /* memfd that collects stderr while the screen is open; -1 if there is none */
	int stderr_before; /* duplicate of the original stderr; -1 if there is none */
} top = {.errors = -1, .stderr_before = -1};

static const struct style_look {
	short color;
	attr_t attributes;
} looks[TOP_STYLE_COUNT] = {
#define LOOK(NAME, color, attributes) [TOP_STYLE_##NAME] = {color, attributes},
	TOP_STYLES(LOOK)
#undef LOOK
};

/*
 * Use a Unicode locale for names in any case; the user's locale decides whether the terminal
 * shows UTF-8.
 */
static void choose_locale(void)
{
	setlocale(LC_CTYPE, "");
	top.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (!top.utf8)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static void start_colors(void)
{
	const char *no_color = getenv("NO_COLOR");

	top.colors = !(no_color && *no_color) && has_colors() && start_color() == OK;
	if (!top.colors)
		return;
	use_default_colors();
	for (short i = 0; i < TOP_STYLE_COUNT; i++)
		init_pair((short)(i + 1), looks[i].color, -1);
}

/*
 * Collect stderr, so that errors of libraries and crash messages can be read after the screen is
 * closed.
 */
static void collect_errors(void)
{
	top.errors = memfd_create("stderr", MFD_CLOEXEC);
	top.stderr_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (top.errors >= 0 && top.stderr_before >= 0)
		dup2(top.errors, STDERR_FILENO);
}

/* Restore stderr and print the collected errors. Safe in a signal handler. */
static void print_collected_errors(void)
{
	char buffer[1024];
	off_t at = 0;
	ssize_t n;

	if (top.errors < 0 || top.stderr_before < 0)
		return;
	dup2(top.stderr_before, STDERR_FILENO);
	while ((n = pread(top.errors, buffer, sizeof(buffer), at)) > 0) {
		if (write(STDERR_FILENO, buffer, (size_t)n) < 0)
			break;
		at += n;
	}
}

/*
 * Restore the terminal without ncurses, which may be the part that crashed, then let the crash
 * proceed.
 */
static void on_crash(int number)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &top.before);
	if (write(STDOUT_FILENO, top.restore, top.restore_size) < 0)
		_exit(128 + number);
	print_collected_errors();
	raise(number); /* SA_RESETHAND has restored the default action */
}

static void catch_crashes(bool on)
{
	struct sigaction action = {.sa_handler = on ? on_crash : SIG_DFL, .sa_flags = SA_RESETHAND};

	for (size_t i = 0; i < sizeof(crash_signals) / sizeof(crash_signals[0]); i++)
		sigaction(crash_signals[i], &action, NULL);
}

int top_screen_open(struct error *err)
{
	struct sigaction stop, window;

	choose_locale();
	tcgetattr(STDIN_FILENO, &top.before);
	/* ncurses must not handle signals, because top reads them from a signalfd */
	sigaction(SIGTSTP, NULL, &stop);
	sigaction(SIGWINCH, NULL, &window);
	top.screen = newterm(NULL, stdout, stdin);
	if (!top.screen)
		return error_set(err, -ENOTTY, "top: the terminal cannot be used; try -b");
	sigaction(SIGTSTP, &stop, NULL);
	sigaction(SIGWINCH, &window, NULL);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	set_escdelay(25);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	start_colors();
	top.restore_size = top_terminal_restore(top.restore, sizeof(top.restore));
	collect_errors();
	catch_crashes(true);
	return 0;
}

void top_screen_close(void)
{
	if (!top.screen)
		return;
	catch_crashes(false);
	endwin();
	delscreen(top.screen);
	top.screen = NULL;
	print_collected_errors();
	if (top.errors >= 0)
		close(top.errors);
	if (top.stderr_before >= 0)
		close(top.stderr_before);
	top.errors = top.stderr_before = -1;
}

void top_screen_resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, TRUE);
}

void top_screen_suspend(void)
{
	endwin();
	raise(SIGSTOP);
	top_screen_resize();
	refresh();
}

unsigned int top_screen_rows(void)
{
	return (unsigned int)LINES;
}

unsigned int top_screen_columns(void)
{
	return (unsigned int)COLS;
}

bool top_screen_utf8(void)
{
	return top.utf8;
}

bool top_screen_put(struct top_pen *p, enum top_style style, const char *text, unsigned int columns,
		    enum top_cut where)
{
	unsigned int width = top_screen_columns();
	attr_t attributes = looks[style].attributes | (p->reversed ? A_REVERSE : 0);
	struct top_text t;

	if (p->row >= top_screen_rows() || p->column >= width)
		return false;
	if (columns > width - p->column)
		columns = width - p->column;
	top_text(&t, text, columns, where, top.utf8);
	if (top.colors)
		attributes |= (attr_t)COLOR_PAIR(style + 1);
	attrset((int)attributes);
	mvaddwstr((int)p->row, (int)p->column, t.cells);
	attrset(A_NORMAL);
	p->column += t.columns;
	return t.cut;
}

bool top_screen_key(unsigned int *key, bool *code)
{
	wint_t c;
	int ret = get_wch(&c);

	*key = c;
	*code = ret == KEY_CODE_YES;
	return ret != ERR;
}
