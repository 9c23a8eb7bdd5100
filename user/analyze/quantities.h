/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a quantity by the name of its counter: its unit, whether it is a total since
 * some start, and how its values are shown.
 */
#ifndef SKEIN_ANALYZE_QUANTITIES_H
#define SKEIN_ANALYZE_QUANTITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTITY_SIZE 48 /* bytes of a value as text */

/*
 * X(prefix of names, unit of values, total, unit over time). A total counts since its process
 * began, so its height at a time says little: over time, its rate is drawn. A share is that of the
 * time. The names are those of HOTSPOT_COUNTERS and of user/capture/jvm_counters.c.
 */
#define QUANTITIES(X) \
	X("heap ", "bytes", false, "bytes") \
	X("time ", "ns", true, "share") \
	X("number of ", "", true, "/s") \
	X("safepoints", "", true, "/s") \
	X("threads started", "", true, "/s") \
	X("classes ", "", true, "/s") \
	/* all others */ \
	X("", "", false, "")

struct quantity {
	const char *prefix;
	const char *unit; /* of values: "bytes", "ns"; "": a number */
	bool total;
	const char *drawn; /* unit of what is drawn over time: "share", "/s", or that of values */
};

/* Return what is known of the quantity of a name, static; never NULL. */
const struct quantity *quantity_of_name(const char *name);

/* Return a rank by which the quantities of a process are ordered. changes: it is not constant. */
unsigned int quantity_rank(const char *name, bool changes);

/* Return the rate of a total that grew by so much in so many ns, in the unit quantity.drawn. */
double quantity_rate(const struct quantity *q, uint64_t growth, uint64_t time);

/* Write a value in a unit of struct quantity to buf, such as "512 MiB". Return buf. */
char *quantity_show(const char *unit, double value, char buf[static QUANTITY_SIZE]);

#endif
