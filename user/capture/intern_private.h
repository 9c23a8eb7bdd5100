/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of interning share; everybody else includes intern.h. */
#ifndef SKEIN_CAPTURE_INTERN_PRIVATE_H
#define SKEIN_CAPTURE_INTERN_PRIVATE_H

#include "base/cache.h"
#include "base/hash.h"
#include "capture/intern.h"
#include "capture/memories.h"
#include "capture/path.h"

/* Python frames whose names are to be asked for as soon as the memory of their process is open. */
#define FORESEEN_MAX 4096

/* One frame, apart from its id. */
struct frame_key {
	struct object *object; /* NULL: its address lay in nothing known */
	uint64_t address;
	uint64_t place; /* of Python */
	enum frame_kind kind;
	bool loop;
};

/* A frame whose name has been asked for. */
struct waiting {
	struct {
		uint64_t object, address;
		uint64_t place; /* of Python; else whether it is known to be a loop */
	} key;
	uint64_t frame; /* frame.id */
	enum frame_kind kind;
	bool loop;
	bool emitted; /* without its name */
	bool asked; /* and not answered yet */
	bool missing; /* generated code or a module's: a later perf map or kallsyms may tell */
	UT_hash_handle hh;
};

struct foreseen {
	uint64_t object, address, place;
};

/* One frame of a trail: without its object, which may be gone when the next stack comes. */
struct trail_node {
	struct path_frame frame;
	struct cache_key path; /* from the outermost frame to this one */
	uint64_t stack; /* stack.id; 0: not looked up */
};

/*
 * The path of the last stack in its context. Samples of one program follow each other within a
 * period, and differ in some innermost frames only: up to these, nothing has to be found among
 * mappings, hashed, or looked up in caches that are larger than the CPU's own.
 */
struct trail {
	uint64_t context; /* what the frames' addresses mean; 0: there is none yet */
	uint64_t root; /* stack.id of how an incomplete stack ends, where its first frame is new */
	unsigned int count;
	struct trail_node nodes[PATH_FRAMES]; /* the outermost first */
};

/* Stacks of so many contexts take turns, on several CPUs. */
#define TRAILS 16

struct placing;

struct intern {
	struct objects *objects;
	struct symbolizer *symbolizer;
	struct sink *sink;
	struct cache *words; /* of a stack, in a version of a space -> stack.id, and has it loops */
	struct cache *stacks; /* frames from the outermost one on -> stack.id */
	struct cache *frames; /* object, address, pass -> frame.id */
	struct cache *functions; /* object, start, name -> function.id */
	struct cache *foreseen; /* object, code object -> nothing */
	struct memories memories; /* of processes that are not in order yet */
	struct foreseen early[FORESEEN_MAX]; /* asked for too early */
	unsigned int early_count;
	struct waiting *waiting;
	unsigned int missing; /* of those */
	uint64_t unready; /* of those when the recording ended */
	struct inlines *inlines; /* NULL: they are not asked for */
	struct cache *placed; /* function.id -> nothing: those that were put with file and line */
	struct placing *placing; /* frames whose inlined functions were asked for */
	size_t placing_bytes;
	uint64_t last_stack, last_frame, last_function;
	char *mangled; /* path of the first file of which a name takes too much to demangle */
	bool urgent; /* a name was asked for that cannot wait */
	uint64_t epoch; /* counts renewed objects */
	int error; /* of the sink, while naming */
	struct error why;
	/* of the stack at hand */
	struct path path;
	struct trail trails[TRAILS]; /* by context */
};

/* intern_names.c: put a new frame, once it has its name where that is to be had. */
int intern_new_frame(struct intern *n, const struct frame_key *key, uint64_t id,
		     struct error *err);
void intern_free_names(struct intern *n);
/* The function.id of a function of an object in *ret; one that is new is put. */
int intern_function(struct intern *n, uint64_t object, const struct symbol *s, uint64_t *ret,
		    struct error *err);

/* intern_places.c: a frame has been put with what there is of its name: ask for its places. */
void intern_ask_places(struct intern *n, const struct frame *f, const struct symbol *name);
void intern_free_places(struct intern *n);

/* intern_python.c: the memory of a process that runs Python in that space; NULL: none. */
struct object *intern_python_of(struct intern *n, struct process_entry *p,
				const struct space *space);
/* The same memory is open, or cannot be opened: ask what was foreseen. */
void intern_ask_foreseen(struct intern *n, const struct object *o);
/* What path_make() asks of a space. */
struct path_space intern_path_space(const struct space *space);

#endif
