/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interning maps the words of a stack to a node of the calling-context tree, and addresses to
 * names. Bounded caches remember recent stacks, frames and functions; an item that is evicted and
 * seen again gets a new id, and readers of the trace join equal paths.
 */
#ifndef SKEIN_CAPTURE_INTERN_H
#define SKEIN_CAPTURE_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "capture/objects.h"
#include "capture/process.h"
#include "symbolizers/client.h"

struct intern;

/*
 * Make an interner. The caller keeps ownership of objects, symbolizer and sink. Returns 0 or
 * -ENOMEM.
 */
int intern_new(struct intern **out, struct objects *objects, struct symbolizer *symbolizer,
	       struct sink *sink, struct error *err);
void intern_free(struct intern *n);

/* The stack of one sample, in the words of bpf/event.h. */
struct raw_stack {
	const struct space *space; /* the address space at the sample's time */
	struct process_entry *process; /* NULL: no longer known */
	/* kernel part first, then user part, then Python part; each leaf first */
	const uint64_t *words;
	unsigned int kernel, user; /* words of the kernel part and of the user part */
	unsigned int python; /* words of the Python part, two for each frame; see WIRE_TAG_PYTHON */
	bool java; /* the user part has Java frames, of two words each (WIRE_TAG_JAVA_COMPILED) */
	enum stack_end python_end; /* END_WALKED: no Python frame is missing */
	enum stack_end end;
};

/*
 * Intern a stack: store its stack.id in *out, 0 if the stack has no frame. New entities are put
 * into the sink. *loops: whether the user part has evaluation loops of Python. Returns 0 or a
 * negative errno.
 */
int intern_stack(struct intern *n, const struct raw_stack *raw, uint64_t *out, bool *loops,
		 struct error *err);

/*
 * Prefetch the names of the Python frames of a sample that is not in order yet, because the process
 * may exit before the sample is in order. The worker remembers the names for intern_stack(). p: the
 * known process of the pid, or NULL. python: the words of the Python part; words: their number.
 * Returns 0 or -ENOMEM.
 */
int intern_prefetch(struct intern *n, uint32_t pid, struct process_entry *p, const uint64_t *python,
		    unsigned int words);

/*
 * The same for the Java frames of a sample. user: the words of the user part; words: their number.
 */
int intern_prefetch_java(struct intern *n, const struct process_entry *p, const uint64_t *user,
			 unsigned int words);

/*
 * Have the memory of a process opened that has mapped an interpreter, before the record of that
 * mapping is in order. at: the process, and the time of the mapping. f: facts of the interpreter's
 * file; code_type: address of PyCode_Type in the process. Returns 0 or -ENOMEM.
 */
int intern_prefetch_memory(struct intern *n, const struct mapped_place *at,
			   const struct python_file *f, uint64_t code_type);

/*
 * Return whether a name that cannot wait was requested since the last call: of generated code,
 * whose addresses are soon reused, or of Python code, whose process may exit.
 */
bool intern_take_urgent(struct intern *n);

/*
 * Return the path of the first file with a name that takes too much to demangle; NULL if there is
 * none.
 */
const char *intern_mangled(const struct intern *n);

/* Return how many frames had names that were still pending at the last tick (intern_tick()). */
uint64_t intern_unready(const struct intern *n);

/* Handle a reply of the symbolizer. Errors of the sink are kept, and returned by intern_tick(). */
void intern_handle_symbol(struct intern *n, uint64_t object, uint64_t address,
			  const struct symbol *s);

/* The same for the methods of a Java frame. */
void intern_handle_java(struct intern *n, uint64_t object, const struct java_places *p);

/*
 * Request the names of the frames that wait for an object that was opened, or give these names up
 * if the object could not be opened. changed: the frames known so far are not valid for later
 * stacks, because the object has changed (objects_context.object_updated) or an interpreter was
 * found in it.
 */
void intern_object_updated(struct intern *n, struct object *o, bool changed);

/* Forget all ids: everything seen from now on gets a new id, even if it was seen before. */
void intern_forget(struct intern *n);

/*
 * intern_use_inlines() makes the interner request lines and inlined functions as well; call
 * inlines_set_context() first. intern_handle_places() handles a reply, innermost function first;
 * count 0: nothing is known. Errors of the sink are kept, and returned by intern_tick().
 */
struct inlines;
void intern_use_inlines(struct intern *n, struct inlines *inlines);
void intern_handle_places(struct intern *n, uint64_t object, uint64_t address,
			  const struct source_place *p, unsigned int count);

/*
 * Put the frames that still wait for their names without names, so that a killed recording has
 * these frames. last: the frames will not get names any more. Returns 0 or a negative errno, which
 * may be that of a put since the last call.
 */
int intern_tick(struct intern *n, bool last, struct error *err);

#endif
