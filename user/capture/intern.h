/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the words of a stack to a node of the calling-context tree, and from
 * addresses to names. What was seen lately is remembered in bounded caches;
 * what is forgotten and met again gets a new id, and readers join equal paths.
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

int intern_new(struct intern **ret, struct objects *objects, struct symbolizer *symbolizer,
	       struct sink *sink, struct error *err);
void intern_free(struct intern *n);

/* The stack of one sample, in words of bpf/event.h. */
struct raw_stack {
	const struct space *space; /* the address space at its moment */
	struct process_entry *process; /* NULL: it is not known any more */
	const uint64_t *words; /* kernel part first, then the user's, then Python's, each leaf first */
	unsigned int kernel, user; /* words of each */
	unsigned int python; /* words, two for a frame; see WIRE_TAG_PYTHON */
	enum stack_end python_end; /* END_WALKED: its frames are all there */
	enum stack_end end;
};

/*
 * The stack.id in *ret; 0 if there is no frame. What is new is put into the sink. *loops: whether
 * its user part has evaluation loops of Python.
 */
int intern_stack(struct intern *n, const struct raw_stack *raw, uint64_t *ret, bool *loops,
		 struct error *err);

/*
 * Ask for the names of the Python frames of a sample that is not in order yet: when it is, its
 * process may be gone. p: what the pid was when last heard of, may be NULL. words: of python, as in
 * struct raw_stack. What is asked for again by intern_stack() is known by then. 0 or -ENOMEM.
 */
int intern_foresee(struct intern *n, uint32_t pid, struct process_entry *p,
		   const uint64_t *python, unsigned int words);

/*
 * The same of a mapping with an interpreter: its process's memory is opened. f: of its file;
 * code_type: address of PyCode_Type there; time: ns. 0 or -ENOMEM.
 */
int intern_foresee_memory(struct intern *n, uint32_t pid, const struct python_file *f,
			  uint64_t code_type, uint64_t time);

/*
 * Whether a name was asked for that may soon be another's or gone, since the last
 * call: of generated code, whose addresses are used again, and of Python's.
 */
bool intern_take_urgent(struct intern *n);

/* Path of the first file that has a name which takes too much to demangle; NULL: none has. */
const char *intern_mangled(const struct intern *n);

/* Frames whose names were still being read at the last tick. */
uint64_t intern_unready(const struct intern *n);

/* An answer of the symbolizer. Errors of the sink are kept for intern_tick(). */
void intern_named(struct intern *n, uint64_t object, uint64_t address, const struct symbol *s);

/*
 * An object has been opened, or could not be: ask for the frames that waited
 * for it. changed: frames met before do not hold for what comes; so it is when
 * the interpreter in it has become known.
 */
void intern_renewed(struct intern *n, struct object *o, bool changed);

/* Begin anew: what is met from now on gets new ids, whether it was met before or not. */
void intern_forget(struct intern *n);

/*
 * Have lines and inlined functions asked for as well (inlines_begin() has been called), and take
 * an answer; count 0: nothing is known. Errors of the sink are kept for intern_tick().
 */
struct inlines;
void intern_use_inlines(struct intern *n, struct inlines *inlines);
void intern_placed(struct intern *n, uint64_t object, uint64_t address,
		   const struct source_place *p, unsigned int count);

/*
 * Put frames that still wait for their names as they are, so that a killed
 * recording has them. last: they will not be named any more.
 */
int intern_tick(struct intern *n, bool last, struct error *err);

#endif
