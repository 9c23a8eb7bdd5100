/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the self time of an event is named: spent in innermost frames that have a function's
 * name, not only a module, an address or nothing. The words for people are here too, so that
 * report, page and top use the same ones.
 */
#ifndef SKEIN_ANALYZE_NAMED_H
#define SKEIN_ANALYZE_NAMED_H

#include "analyze/profile.h"
#include "base/vector.h"

/* Below this share of named self time, what gives names is shown, in percent. */
#define NAMED_ENOUGH 90

/* A module with self time in functions that have no name. */
struct nameless_share {
	const char *path; /* as profile_module_path() names it */
	const char *build_id; /* "" unknown */
	enum mapping_kind kind;
	uint64_t weight; /* in the unit of the event */
};

struct named_share {
	uint64_t self; /* weight of samples with a frame */
	uint64_t named; /* of these, the weight whose innermost frame has a name */
	VECTOR(struct nameless_share) modules; /* the largest first */
};

/* Return 0 or -ENOMEM. The texts belong to the profile. Free the result in both cases. */
int named_share_of(struct named_share *out, const struct profile *p, uint32_t event);
void named_share_free(struct named_share *n);

/* Return whether so much has no name that people should know what gives names. */
bool named_share_is_low(const struct named_share *n);
/* Write "61.2 % of self time named" to buf; "" if there is no self time. Return buf. */
char *named_share_text(const struct named_share *n, char *buf, size_t size);

/* What gives names to functions of files whose symbols were removed. */
#define NAMED_ADVICE \
	"to name them, install the debug files and run 'skein symbolize', or fetch the files " \
	"with 'skein symbolize --debuginfod'"

/* The same while names are still looked for, in few words. */
#define NAMED_ADVICE_LIVE "install -dbgsym packages, or --debuginfod"

#endif
