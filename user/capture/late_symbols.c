// SPDX-License-Identifier: Apache-2.0
/*
 * Search for names after a recording. Each module goes through some of the stages below; a few
 * modules are in work at a time, so that few files are open. A file that a server sends goes the
 * same way as a file of this machine: the worker reads it, and refuses it unless its build-id is
 * that of the module.
 */
#include "capture/late_symbols.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/opener.h"
#include "symbolizers/client.h"

#define MODULES_AT_ONCE 32
#define ROUND_MS 200

/*
 * OPENING: the opener looks for the file of the path. LOADING: the worker reads it. DEBUG_OPENING:
 * the opener looks for debug files. DEBUG_LOADING: the worker reads one. FETCHING: a server is
 * asked for the file itself or its debug file. LOOKING: names are requested. DONE: all replies are
 * there.
 */
enum late_stage {
	LATE_UNSEEN,
	LATE_OPENING,
	LATE_LOADING,
	LATE_DEBUG_OPENING,
	LATE_DEBUG_LOADING,
	LATE_FETCHING,
	LATE_LOOKING,
	LATE_DONE,
};

struct late_search {
	struct late_module *module;
	enum late_stage stage;
	size_t replies; /* addresses with a reply */
	/* what servers were asked for; the file that the worker reads is theirs */
	bool asked[DEBUGINFOD_WHAT_COUNT], theirs;
	bool second; /* the file of the path was not the module; see late_id() */
	enum late_outcome verdict; /* of the addresses that have no name in the end */
	bool suspicious; /* the file system of the module may hang its reader */
	enum debuginfod_what fetching;
	struct {
		int fds[OPENER_DEBUG_MAX]; /* candidates, those from next on are owned */
		unsigned int count, next;
		bool more; /* the opener has not sent all */
	} debug;
	char debuglink[256];
};

struct late {
	struct late_options *options;
	struct late_search *all;
	size_t count, next, done;
	struct opener *opener;
	struct symbolizer *symbolizer;
	struct debuginfod *debuginfod; /* NULL: no servers are asked */
	int error; /* first error of named() */
};

#define LATE_TEXT(N, text) [LATE_##N] = text,

const char *late_module_reason(const struct late_module *m)
{
	static const char *const texts[] = {LATE_OUTCOMES(LATE_TEXT)};

	return m->outcome == LATE_SERVERS ? debuginfod_outcome_text(m->servers) : texts[m->outcome];
}

/*
 * The number of a module's object, also the token of its requests. It changes when a file is
 * replaced by that of a server, since the number of an object is never used twice.
 */
static uint64_t late_id(const struct late *l, const struct late_search *s)
{
	return ((uint64_t)(s - l->all) + 1) << 1 | s->second;
}

static struct late_search *late_search_of(const struct late *l, uint64_t id)
{
	size_t number = (size_t)(id >> 1);
	struct late_search *s = number && number <= l->count ? &l->all[number - 1] : NULL;

	return s && late_id(l, s) == id ? s : NULL;
}

static void close_candidates(struct late_search *s)
{
	while (s->debug.next < s->debug.count)
		close(s->debug.fds[s->debug.next++]);
}

static void late_end(struct late *l, struct late_search *s, enum late_outcome outcome)
{
	if (s->stage == LATE_DONE)
		return;
	if (outcome != LATE_NAMED && s->module->asked)
		outcome = LATE_SERVERS;
	s->module->outcome = outcome;
	s->stage = LATE_DONE;
	close_candidates(s);
	symbolizer_forget(l->symbolizer, late_id(l, s));
	l->done++;
}

/* Request the names of all addresses. verdict: what is the matter with those that get none. */
static void late_look_up(struct late *l, struct late_search *s, enum late_outcome verdict)
{
	uint64_t id = late_id(l, s);

	s->stage = LATE_LOOKING;
	s->verdict = verdict;
	close_candidates(s);
	for (size_t i = 0; i < s->module->count; i++)
		if (symbolizer_lookup(l->symbolizer, id, s->module->addresses[i]) < 0) {
			late_end(l, s, LATE_UNREADABLE);
			return;
		}
	(void)symbolizer_flush(l->symbolizer);
}

/* Ask servers for a file. Return false if none are to be asked. */
static bool late_fetch(struct late *l, struct late_search *s, enum debuginfod_what what)
{
	if (!l->debuginfod || s->asked[what])
		return false;
	if (what == DEBUGINFOD_EXECUTABLE) {
		symbolizer_forget(l->symbolizer, late_id(l, s));
		s->second = true;
	}
	if (debuginfod_fetch(l->debuginfod, late_id(l, s), s->module->build_id, what) < 0)
		return false;
	s->asked[what] = s->module->asked = true;
	s->fetching = what;
	s->stage = LATE_FETCHING;
	return true;
}

/* The module's own file is not to be had here. */
static void late_want_file(struct late *l, struct late_search *s, enum late_outcome outcome)
{
	if (!late_fetch(l, s, DEBUGINFOD_EXECUTABLE))
		late_end(l, s, outcome);
}

/* There is no debug file here. Without one of a server, the file may still have some names. */
static void late_want_debug_file(struct late *l, struct late_search *s)
{
	if (!late_fetch(l, s, DEBUGINFOD_DEBUG))
		late_look_up(l, s, LATE_BARE);
}

/* Let the worker read the next debug file; false if there is none. */
static bool late_try_candidate(struct late *l, struct late_search *s)
{
	while (s->debug.next < s->debug.count)
		if (!symbolizer_add_debug(l->symbolizer, late_id(l, s),
					  s->debug.fds[s->debug.next++])) {
			s->stage = LATE_DEBUG_LOADING;
			return true;
		}
	return false;
}

static void late_request_debug(struct late *l, struct late_search *s)
{
	const struct open_request r = {
		.token = late_id(l, s),
		.what = OPEN_DEBUG,
		.pid = (uint32_t)getpid(),
		.path = s->module->path,
		.build_id = s->module->build_id,
		.debuglink = s->debuglink,
	};

	s->stage = LATE_DEBUG_OPENING;
	if (opener_open(l->opener, &r) < 0)
		late_want_debug_file(l, s);
}

/* Go on after a file has been read that has no .symtab, or is no debug file of the module. */
static void late_want_debug(struct late *l, struct late_search *s)
{
	if (s->stage == LATE_LOADING)
		late_request_debug(l, s);
	else if (!late_try_candidate(l, s) && !s->debug.more)
		late_want_debug_file(l, s);
}

/* The worker has read a file of a server: note whether it is the right one. */
static void late_settle(struct late *l, struct late_search *s, bool right)
{
	debuginfod_settle(l->debuginfod, late_id(l, s), right);
	s->theirs = false;
	s->module->fetched |= right;
	if (!right)
		s->module->servers = DEBUGINFOD_OTHER;
}

static void late_on_facts(void *context, uint64_t id, const struct object_facts *f)
{
	struct late *l = context;
	struct late_search *s = late_search_of(l, id);
	bool fits;

	if (!s || (s->stage != LATE_LOADING && s->stage != LATE_DEBUG_LOADING))
		return;
	fits = !f->bad && !strcmp(f->build_id, s->module->build_id);
	if (s->theirs)
		late_settle(l, s, fits && (s->stage == LATE_LOADING || !f->wants_debug));
	snprintf(s->debuglink, sizeof(s->debuglink), "%s", f->debuglink);
	if (!fits && s->stage == LATE_LOADING)
		late_want_file(l, s, f->bad ? LATE_UNREADABLE : LATE_CHANGED);
	else if (!fits)
		late_end(l, s, LATE_UNREADABLE);
	else if (f->wants_debug)
		late_want_debug(l, s);
	else
		late_look_up(l, s, LATE_NAMED);
}

static void late_on_symbol(void *context, uint64_t id, uint64_t address, const struct symbol *y)
{
	struct late *l = context;
	struct late_search *s = late_search_of(l, id);
	struct function f = {.name = y->name, .system_name = y->system_name, .file = ""};
	uint64_t flags = FRAME_FLAG_LOOKED_UP | (y->flags & SYMBOL_START ? FRAME_FLAG_START : 0);

	if (!s || s->stage != LATE_LOOKING)
		return;
	f.address = y->start;
	if (s->replies < s->module->count && s->module->addresses[s->replies] == address &&
	    (y->flags & SYMBOL_FOUND) && *y->name) {
		int ret = l->options->named(l->options->context, (size_t)(s - l->all), s->replies,
					    &f, flags);

		l->error = l->error ? l->error : ret;
		s->module->named++;
	}
	if (++s->replies >= s->module->count)
		late_end(l, s, s->module->named < s->module->count ? s->verdict : LATE_NAMED);
}

/* Add the module's file, of this machine or of a server, to the worker. Takes ownership of fd. */
static void late_load(struct late *l, struct late_search *s, int fd, bool suspicious)
{
	uint64_t id = late_id(l, s);
	int ret = suspicious ? symbolizer_add_suspicious(l->symbolizer, id, OBJECT_ELF, fd)
			     : symbolizer_add(l->symbolizer, id, OBJECT_ELF, fd);

	s->suspicious = suspicious;
	s->stage = LATE_LOADING;
	if (ret < 0 || symbolizer_read(l->symbolizer, id) < 0)
		late_end(l, s, LATE_UNREADABLE);
}

static void late_on_candidate(struct late *l, struct late_search *s, const struct open_reply *a)
{
	bool waits = s->stage == LATE_DEBUG_OPENING || s->stage == LATE_DEBUG_LOADING;

	if (a->fd >= 0 &&
	    (!waits || s->debug.count == OPENER_DEBUG_MAX || (a->suspicious && !s->suspicious)))
		close(a->fd);
	else if (a->fd >= 0)
		s->debug.fds[s->debug.count++] = a->fd;
	s->debug.more = a->more;
	if (s->stage == LATE_DEBUG_OPENING && !late_try_candidate(l, s) && !a->more)
		late_want_debug_file(l, s);
}

static void late_on_opened(void *context, const struct open_reply *a)
{
	struct late *l = context;
	struct late_search *s = late_search_of(l, a->token);

	if (s && s->stage == LATE_OPENING && a->fd >= 0)
		late_load(l, s, a->fd, a->suspicious);
	else if (s && s->stage == LATE_OPENING)
		late_want_file(l, s, a->fd == -ENOENT ? LATE_ABSENT : LATE_UNREADABLE);
	else if (s)
		late_on_candidate(l, s, a);
	else if (a->fd >= 0)
		close(a->fd);
}

static void late_on_fetched(void *context, uint64_t token, int fd, enum debuginfod_outcome outcome,
			    const char *why)
{
	struct late *l = context;
	struct late_search *s = late_search_of(l, token);

	if (!s || s->stage != LATE_FETCHING) {
		if (fd >= 0)
			close(fd);
		return;
	}
	s->module->servers = outcome;
	snprintf(s->module->why, sizeof(s->module->why), "%s", why);
	s->theirs = fd >= 0;
	if (fd < 0 && s->fetching == DEBUGINFOD_DEBUG) {
		late_look_up(l, s, LATE_BARE);
	} else if (fd < 0) {
		late_end(l, s, LATE_SERVERS);
	} else if (s->fetching == DEBUGINFOD_EXECUTABLE) {
		late_load(l, s, fd, false);
	} else if (symbolizer_add_debug(l->symbolizer, token, fd) < 0) {
		late_end(l, s, LATE_UNREADABLE);
	} else {
		s->stage = LATE_DEBUG_LOADING;
	}
}

/* The opener also scans processes, which this search never requests. */
static void late_on_process(void *context, const struct scanned_process *p)
{
	(void)context;
	(void)p;
}

static void late_on_thread(void *context, const struct scanned_thread *t)
{
	(void)context;
	(void)t;
}

static void late_on_mapping(void *context, const struct scanned_mapping *m)
{
	(void)context;
	(void)m;
}

static void late_on_scan(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
}

static void late_begin(struct late *l, struct late_search *s)
{
	const struct open_request r = {
		.token = late_id(l, s),
		.what = OPEN_NAMED,
		.pid = (uint32_t)getpid(),
		.path = s->module->path,
	};

	s->stage = LATE_OPENING;
	if (!*s->module->build_id)
		late_end(l, s, LATE_NO_BUILD_ID);
	else if (opener_open(l->opener, &r) < 0)
		late_end(l, s, LATE_UNREADABLE);
}

static const char *late_fetching(const struct late *l)
{
	for (size_t i = 0; i < l->next; i++)
		if (l->all[i].stage == LATE_FETCHING)
			return l->all[i].module->path;
	return NULL;
}

static int late_round(struct late *l, struct error *err)
{
	struct pollfd fds[] = {
		{.fd = opener_fd(l->opener), .events = POLLIN},
		{.fd = symbolizer_fd(l->symbolizer), .events = POLLIN},
		{.fd = l->debuginfod ? debuginfod_fd(l->debuginfod) : -1, .events = POLLIN},
	};
	int ret;

	while (l->next < l->count && l->next - l->done < MODULES_AT_ONCE)
		late_begin(l, &l->all[l->next++]);
	if (l->done == l->count)
		return 0;
	(void)poll(fds, sizeof(fds) / sizeof(*fds), ROUND_MS);
	ret = opener_poll(l->opener, clock_boot_ns(), err);
	if (!ret)
		ret = symbolizer_poll(l->symbolizer, clock_boot_ns(), err);
	if (!ret && l->debuginfod)
		debuginfod_poll(l->debuginfod, clock_boot_ns());
	return ret ? ret : l->error;
}

static int late_start(struct late *l, struct late_module *modules, struct error *err)
{
	const struct opener_events opened = {.opened = late_on_opened,
					     .process = late_on_process,
					     .thread = late_on_thread,
					     .mapping = late_on_mapping,
					     .scanned = late_on_scan,
					     .context = l};
	const struct symbolizer_events found = {
		.symbol = late_on_symbol, .facts = late_on_facts, .context = l};
	const struct debuginfod_options servers = {.urls = l->options->urls,
						   .folder = l->options->cache,
						   .fetched = late_on_fetched,
						   .context = l};
	int ret;

	l->all = calloc(l->count, sizeof(*l->all));
	if (!l->all)
		return error_errno(err, -ENOMEM, "names");
	for (size_t i = 0; i < l->count; i++)
		l->all[i].module = &modules[i];
	ret = opener_new(&l->opener, &opened, err);
	if (!ret)
		ret = symbolizer_new(&l->symbolizer, &found, err);
	if (!ret && l->options->urls)
		ret = debuginfod_new(&l->debuginfod, &servers, err);
	return ret;
}

int late_symbols_find(struct late_module *modules, size_t count, struct late_options *o,
		      struct error *err)
{
	struct late l = {.options = o, .count = count};
	struct late_progress p = {.modules = count};
	int ret = count ? late_start(&l, modules, err) : 0;

	while (!ret && l.done < count) {
		p.done = l.done;
		p.fetching = late_fetching(&l);
		if (!o->keep_going(o->context, &p))
			break;
		ret = late_round(&l, err);
	}
	for (size_t i = 0; l.all && i < count; i++)
		close_candidates(&l.all[i]);
	if (l.debuginfod)
		o->counts = *debuginfod_counts(l.debuginfod);
	debuginfod_free(l.debuginfod);
	symbolizer_free(l.symbolizer);
	opener_free(l.opener);
	free(l.all);
	return ret;
}
