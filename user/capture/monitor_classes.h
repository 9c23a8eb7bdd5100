/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the classes whose monitors threads wait for. A class gets a name record's id when it
 * is first seen, and the text when the worker has read it: spans refer to it at once.
 */
#ifndef SKEIN_CAPTURE_MONITOR_CLASSES_H
#define SKEIN_CAPTURE_MONITOR_CLASSES_H

#include <stdint.h>

#include "base/pipe.h"

/* The name of classes that are not known. No class has it, because it has blanks. */
#define MONITOR_CLASS_UNKNOWN "class not known"

struct monitor_classes;

struct monitor_classes_context {
	struct sink *sink;
	uint64_t *last_name; /* last name.id in use */
	/*
	 * requests the name of a class (WIRE_CLASS()) of a JVM, by the number that the caller gave;
	 * returns 0 if monitor_classes_reply() will be called
	 */
	int (*request)(void *context, uint64_t jvm, uint64_t class);
	void *context;
};

/* Return NULL without memory. */
struct monitor_classes *monitor_classes_new(const struct monitor_classes_context *c);
void monitor_classes_free(struct monitor_classes *m);

/*
 * Get the name.id of a class; class 0 is not known. Return 0 or a negative errno.
 */
int monitor_classes_find(struct monitor_classes *m, uint64_t jvm, uint64_t class, uint64_t *name,
			 struct error *err);
/* Handle the reply to a request. text: hostile; NULL: the class is not known. */
int monitor_classes_reply(struct monitor_classes *m, uint64_t jvm, uint64_t class, const char *text,
			  struct error *err);
/* Emit names again before they are used again: the sink has got sink_forget(). */
void monitor_classes_forget(struct monitor_classes *m);
/* Emit the names of all classes without a reply as not known. Return 0 or a negative errno. */
int monitor_classes_end(struct monitor_classes *m, struct error *err);

#endif
