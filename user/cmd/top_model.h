/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of `skein top`, independent of any screen: the window's profile, narrowed to the foci
 * that the user has chosen. No text here is cleaned; names come from possibly hostile processes.
 */
#ifndef SKEIN_CMD_TOP_MODEL_H
#define SKEIN_CMD_TOP_MODEL_H

#include <regex.h>

#include "analyze/callers.h"
#include "analyze/functions.h"
#include "analyze/groups.h"
#include "analyze/recent.h"
#include "analyze/sched_rows.h"
#include "cmd/top_processes.h"

/*
 * The views, in the order of the tabs: X(NAME, "word", "TITLE of the column of names", kind of
 * groups in the rows, or GROUP_KIND_COUNT for functions).
 */
#define TOP_VIEWS(X) \
	X(PROCESSES, "processes", "PROCESS", GROUP_PROCESS) \
	X(FUNCTIONS, "functions", "FUNCTION", GROUP_KIND_COUNT) \
	X(TREE, "call tree", "CALL TREE", GROUP_KIND_COUNT) \
	X(PROGRAMS, "programs", "PROGRAM", GROUP_PROGRAM) \
	X(THREADS, "threads", "THREAD", GROUP_THREAD) \
	X(SERVICES, "services", "SERVICE", GROUP_SERVICE) \
	X(CONTAINERS, "containers", "CONTAINER", GROUP_CONTAINER) \
	X(MODULES, "modules", "MODULE", GROUP_MODULE) \
	X(CLASSES, "classes", "CLASS OF WAIT", GROUP_KIND_COUNT) \
	X(WAKERS, "wakers", "WHO ENDED THE WAITS", GROUP_KIND_COUNT) \
	/* and callees of the function in focus */ \
	X(CALLERS, "callers", "CALLERS AND CALLEES", GROUP_KIND_COUNT)

#define TOP_VIEW_ENUM(NAME, word, title, group) TOP_##NAME,
enum top_view { TOP_VIEWS(TOP_VIEW_ENUM) TOP_VIEW_COUNT };
#undef TOP_VIEW_ENUM

const char *top_view_word(enum top_view view);
enum group_by top_view_group(enum top_view view);
/* Return whether a view is of samples of a CPU or of waits; most are of either. */
bool top_view_is_available(enum top_view view, bool off_cpu);
/* Return whether the rows of a view are groups that samples belong to, not functions. */
bool top_view_is_groups(enum top_view view);

/* X(NAME, "word") */
#define TOP_SORTS(X) X(SELF, "self") X(TOTAL, "total") X(NAME, "name") X(MEMORY, "memory")

#define TOP_SORT_ENUM(NAME, word) TOP_BY_##NAME,
enum top_sort { TOP_SORTS(TOP_SORT_ENUM) TOP_SORT_COUNT };
#undef TOP_SORT_ENUM

const char *top_sort_word(enum top_sort sort);
/* Return the order that a view has if an order is requested which may not apply to its rows. */
enum top_sort top_view_sort(enum top_view view, enum top_sort requested);

/* A condition for samples: a function on their stack, or the group they belong to. */
struct top_focus {
	bool function; /* false means a group */
	enum group_by by;
	enum top_view view; /* TOP_CLASSES or TOP_WAKERS: only waits with that name there */
	char *name;
	char *more; /* module of a function; container of a group's first process */
	uint64_t host, pid, born, tid;
	/* ns of the samples that satisfy the earlier foci (of), and also this focus (weight) */
	uint64_t weight, of;
};

void top_focus_free(struct top_focus *f);

/* Kinds of functions, which have different colours. Headings and programs are TOP_HEADING. */
enum top_kind { TOP_NATIVE, TOP_KERNEL, TOP_JIT, TOP_PYTHON, TOP_HEADING };

struct top_row {
	uint64_t key; /* the same for the same function or group in the next window */
	/*
	 * module of a function, command or program file of a process, or name of a thread's
	 * process; or ""
	 */
	const char *name, *module;
	uint64_t self, total; /* ns; equal for groups */
	uint64_t resident; /* bytes, of processes; else, or not known: TOP_RESIDENT_UNKNOWN */
	enum top_kind kind;
	uint32_t symbol; /* for functions and programs in trees; TREE_NONE for headings */
	const struct group *group; /* NULL for functions */
	unsigned int depth; /* in a tree */
	bool alike; /* another function has this name and short name of the module */
	bool branch, open; /* the node has children; they are shown */
};

/* The requested view. */
struct top_request {
	enum top_view view;
	enum top_sort sort;
	bool reverse, full_names;
	struct top_focus *foci; /* first chosen first; top_model_show() sets their weights */
	size_t focus_count;
	const regex_t *filter; /* applies to names and modules; NULL matches everything */
	const struct index *toggled; /* keys of tree rows; 1 means open, 0 closed */
	/* other tree rows are open if they have at least 1 / open_part of the whole; 0: none is */
	unsigned int open_part;
};

/* A model; zeroed memory is an empty one. */
struct top_model {
	struct recent_window window;
	bool off_cpu; /* the rows are of waits, not of samples of a CPU */
	uint32_t event;
	struct symbols symbols; /* of the window's profile */
	VECTOR(uint8_t) kinds; /* enum top_kind, by symbol */
	struct profile part; /* the window's profile with only the sums in focus */
	VECTOR(struct profile_sum) sums; /* storage of part's sums */
	/* of waits, by sum: the index in window.waits; then each wait there is a sum */
	VECTOR(uint32_t) waits;
	struct sched_names names; /* of the window's profile, for waits */
	struct tree tree; /* call tree of part; not in views of groups */
	struct functions functions;
	struct groups groups;
	struct top_processes processes; /* of the window */
	VECTOR(struct top_row) rows;
	uint64_t weight; /* of part, ns */
	uint64_t matched; /* self weight of the rows that match the filter; 0 in views of trees */
};

/*
 * Take over a window. Return 0, or -ENOMEM, after which the caller still owns the window and the
 * model shows nothing.
 */
int top_model_take(struct top_model *m, const struct recent_window *w);
/*
 * Make the rows. Return 0 or -ENOMEM. The rows are valid until the next call of top_model_take() or
 * top_model_show().
 */
int top_model_show(struct top_model *m, const struct top_request *request);
void top_model_free(struct top_model *m);

/* Make a focus from a row of a view. Return 0 or -ENOMEM. Free the focus with top_focus_free(). */
int top_focus_make(struct top_focus *out, enum top_view view, const struct top_row *row);

/* The following functions are for top_rows.c and top_branches.c. */
/*
 * Return the symbol of the function in focus in this window; TREE_NONE if it does not occur. If the
 * focus has another module, a function of the same name is returned: its module may have been
 * unknown when the function was chosen.
 */
uint32_t top_model_find_symbol(const struct top_model *m, const struct top_focus *f);
uint64_t top_model_symbol_key(const struct symbols *s, uint32_t symbol);
/*
 * Return the name of a wait in the view of classes or of wakers: that of the waker's program, or of
 * an interrupt.
 */
const char *top_wait_name(const struct top_model *m, enum top_view view, uint32_t wait);
int top_rows_flat(struct top_model *m, const struct top_request *request);
int top_rows_branches(struct top_model *m, const struct top_request *request);
/* Return whether the name or the module matches the filter, or there is no filter. */
bool top_model_matches(const struct top_request *request, const char *name, const char *module);

#endif
