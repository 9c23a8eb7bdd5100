/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses what the service does so that it stays within its budget of memory. It is given only
 * measurements, and has no clock of its own. While a measurement is above the budget but for an
 * eighth, which leaves room for what comes until the next one, it takes one step for each:
 *
 * - MEMORY_FORGET: what is remembered and can be found again is forgotten, free memory is returned.
 * - MEMORY_REPLACE, up to twice: a helper process is replaced, if it holds an eighth of the budget.
 * - MEMORY_SLOWER, above the whole budget only: the rate of samples goes down by one, as far as
 *   there is a lower one: records that wait, and what windows refer to, grow with it.
 *
 * A step that comes later than memory_budget.again after the one before begins with the first one
 * anew. When all steps have been taken and it is still too much, nothing is done for that time,
 * which doubles each time, up to MEMORY_AGAIN_MOST: forgetting and replacing cost CPU time. The
 * rate goes up again by one step after MEMORY_CALM in which at most MEMORY_MARGIN of the budget was
 * in use; a step up that is taken back within MEMORY_UP_AGAIN doubles that time.
 */
#ifndef SKEIN_SERVE_MEMORY_BUDGET_H
#define SKEIN_SERVE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_SECOND 1000000000ULL
#define MEMORY_AGAIN (60 * MEMORY_SECOND)
#define MEMORY_AGAIN_MOST (3600 * MEMORY_SECOND)
#define MEMORY_CALM (60 * MEMORY_SECOND)
#define MEMORY_CALM_MOST (3600 * MEMORY_SECOND)
#define MEMORY_UP_AGAIN (600 * MEMORY_SECOND)
#define MEMORY_MARGIN 80 /* % */
#define MEMORY_ROOM 8 /* one part in so many of the budget is left as room */
#define MEMORY_YOUNG (600 * MEMORY_SECOND)

enum memory_step {
	MEMORY_NOTHING,
	MEMORY_FORGET,
	MEMORY_REPLACE,
	MEMORY_SLOWER,
	MEMORY_FASTER, /* one of these steps down is taken back */
};

struct memory_budget {
	uint64_t bytes; /* 0: no limit */
	unsigned int rates; /* number of rates of the clock */
	unsigned int slower; /* steps down that hold: index of the highest rate that is allowed */
	enum memory_step last; /* the last step of those above the budget */
	unsigned int replaced; /* helpers since the last MEMORY_FORGET */
	bool at_end; /* after the last measurement no step was left */
	bool exceeded; /* and it was above the budget */
	uint64_t acted; /* when the last step was taken, ns; 0: none was */
	uint64_t again; /* ns */
	uint64_t calm_since, calm; /* ns: since when it is calm, and how long it has to be */
	uint64_t last_up; /* time of the last step up, ns; 0: a step down came since */
	uint64_t clamps; /* steps so far, those up not counted */
};

struct memory_measured {
	uint64_t time; /* ns */
	uint64_t bytes; /* of all processes */
	uint64_t helper; /* of the helper that would be replaced */
};

/* A helper process. */
struct memory_helper {
	pid_t pid;
	bool keeps_names; /* of which it can be given a limit */
	uint64_t bytes;
	uint64_t since; /* when it was seen first, ns; 0: at the start */
	uint64_t limit; /* the last one that it was given, bytes; 0: none */
};

#define MEMORY_HELPERS_MAX 16
#define MEMORY_LIMIT_STEP (1ULL << 20)
/* Bytes that a helper takes beside the names that it keeps, but for a table that is being read. */
#define MEMORY_HELPER_OWN (2ULL << 20)
/* The least that one is left: the symbols of the kernel, 4 MiB, and one library's. */
#define MEMORY_NAMES_LEAST (6ULL << 20)

/*
 * memory_share.c: set limits[] to the bytes of names that each of the helpers may keep from now on,
 * 0: as before. They are such that all helpers stay within the budget but for its last part
 * (MEMORY_ROOM), together with others: the bytes of all other processes. Where that is not enough
 * for what each has and an eighth of the budget more, the largest get less; what is left is divided
 * equally, and each has MEMORY_NAMES_LEAST in any case. Limits change by MEMORY_LIMIT_STEP or more.
 * count: at most MEMORY_HELPERS_MAX.
 */
void memory_budget_share(const struct memory_budget *b, struct memory_helper *helpers,
			 unsigned int count, uint64_t others, uint64_t *limits);

/* Prepare a budget, bytes, for a number of rates of the clock. */
void memory_budget_init(struct memory_budget *b, uint64_t bytes, unsigned int rates);

/*
 * Return the helper that is to be replaced if one has to be: the largest of those that are older
 * than MEMORY_YOUNG and worth it, else the largest; NULL: there is none. A young one holds what is
 * needed now, an old one may hold names of programs that have ended. now: ns.
 */
const struct memory_helper *memory_budget_choose(const struct memory_budget *b,
						 const struct memory_helper *helpers,
						 unsigned int count, uint64_t now);
/* Take a measurement, and return what is to be done. */
enum memory_step memory_budget_step(struct memory_budget *b, const struct memory_measured *m);

#endif
