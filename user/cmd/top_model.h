/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `skein top` shows, apart from any screen: the window's profile, narrowed to what the user
 * has chosen, as rows. Nothing here is clean: names are those of hostile processes.
 */
#ifndef SKEIN_CMD_TOP_MODEL_H
#define SKEIN_CMD_TOP_MODEL_H

#include <regex.h>

#include "analyze/callers.h"
#include "analyze/functions.h"
#include "analyze/groups.h"
#include "analyze/recent.h"

/* X(NAME, "word", what its rows are; GROUP_KIND_COUNT: functions) in the order of the tabs. */
#define TOP_VIEWS(X) \
	X(FUNCTIONS, "functions", GROUP_KIND_COUNT) \
	X(TREE, "call tree", GROUP_KIND_COUNT) \
	X(PROGRAMS, "programs", GROUP_PROGRAM) \
	X(PROCESSES, "processes", GROUP_PROCESS) \
	X(THREADS, "threads", GROUP_THREAD) \
	X(CONTAINERS, "containers", GROUP_CONTAINER) \
	X(MODULES, "modules", GROUP_MODULE) \
	X(CALLERS, "callers", GROUP_KIND_COUNT) /* and callees of the function in focus */

#define TOP_VIEW_ENUM(NAME, word, group) TOP_##NAME,
enum top_view { TOP_VIEWS(TOP_VIEW_ENUM) TOP_VIEW_COUNT };
#undef TOP_VIEW_ENUM

const char *top_view_word(enum top_view view);
enum group_by top_view_group(enum top_view view);
/* Whether its rows are what samples belong to, and not functions. */
bool top_view_is_groups(enum top_view view);

/* X(NAME, "word") */
#define TOP_SORTS(X) X(SELF, "self") X(TOTAL, "total") X(NAME, "name")

#define TOP_SORT_ENUM(NAME, word) TOP_BY_##NAME,
enum top_sort { TOP_SORTS(TOP_SORT_ENUM) TOP_SORT_COUNT };
#undef TOP_SORT_ENUM

const char *top_sort_word(enum top_sort sort);

/* What samples must have to do with: a function on their stack, or the group they belong to. */
struct top_focus {
	bool function; /* else a group */
	enum group_by by;
	char *name;
	char *more; /* module of a function, container of a program */
	uint64_t host, pid, born, tid;
	uint64_t weight, of; /* of the samples that are left, and were there before; ns */
};

void top_focus_free(struct top_focus *f);

/* Colours of functions. */
enum top_kind { TOP_NATIVE, TOP_KERNEL, TOP_JIT, TOP_PYTHON, TOP_HEADING };

struct top_row {
	uint64_t key; /* the same for the same thing in the next window */
	const char *name, *module; /* module: path; or the place of a group */
	uint64_t self, total; /* ns; the same of groups */
	enum top_kind kind;
	uint32_t symbol; /* of functions */
	const struct group *group; /* else NULL */
	unsigned int depth; /* in a tree */
	bool branch, open; /* it has rows below; they are shown */
};

/* What is asked for. */
struct top_wish {
	enum top_view view;
	enum top_sort sort;
	bool reverse;
	struct top_focus *foci; /* outermost first; their weights are filled in */
	size_t focus_count;
	const regex_t *filter; /* on names and modules; NULL: everything */
	const struct index *toggled; /* keys of tree rows -> 1 open, 0 closed */
	unsigned int open_part; /* other tree rows are open from this part of all on; 0: none */
};

/* Zeroed memory is an empty one. */
struct top_model {
	struct recent_window window;
	uint32_t event;
	struct symbols symbols; /* of the window's profile */
	VECTOR(uint8_t) kinds; /* enum top_kind, by symbol */
	struct profile part; /* the window's, with those sums only that are in focus */
	VECTOR(struct profile_sum) sums; /* these */
	struct tree tree; /* of part, by function */
	struct functions functions;
	struct groups groups;
	VECTOR(struct top_row) rows;
	uint64_t weight; /* of part, ns */
	uint64_t matched; /* self weight of the rows that the filter lets through */
};

/* Take a window over, from success on: 0 or -ENOMEM, and the model shows nothing. */
int top_model_take(struct top_model *m, const struct recent_window *w);
/* Make the rows: 0 or -ENOMEM. Rows and focus hold until the next call of either function. */
int top_model_show(struct top_model *m, const struct top_wish *wish);
void top_model_free(struct top_model *m);

/* Narrow a view to what a row is: 0 or -ENOMEM. Free it with top_focus_free(). */
int top_focus_on(struct top_focus *ret, enum top_view view, const struct top_row *row);

/* For top_rows.c and top_branches.c. */
/*
 * The function in focus as it is called in this window: a module may have been unknown when the
 * function was chosen. TREE_NONE: it is not there.
 */
uint32_t top_symbol(const struct top_model *m, const struct top_focus *f);
uint64_t top_key(const struct symbols *s, uint32_t symbol);
int top_rows_flat(struct top_model *m, const struct top_wish *wish);
int top_rows_branches(struct top_model *m, const struct top_wish *wish);
/* Whether the filter lets a function through. */
bool top_matches(const struct top_wish *wish, const char *name, const char *module);

#endif
