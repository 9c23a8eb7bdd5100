/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares data and functions shared by the files of interning; all other files include intern.h.
 */
#ifndef SKEIN_CAPTURE_INTERN_PRIVATE_H
#define SKEIN_CAPTURE_INTERN_PRIVATE_H

#include "base/cache.h"
#include "base/hash.h"
#include "capture/intern.h"
#include "capture/intern_python.h"
#include "capture/path.h"

/* The properties by which frames are the same frame. */
struct frame_key {
	struct object *object; /* NULL: the address lies in no known object */
	uint64_t address;
	uint64_t place; /* of a Python frame PYTHON_PLACE(), of a Java frame its second word */
	enum frame_kind kind;
	bool loop;
};

/*
 * place of the pending name of a native frame. A frame that is known to be an evaluation loop of
 * Python (PLACE_LOOP) is another frame than a plain one at the same address, and both may wait.
 */
enum name_place { PLACE_PLAIN, PLACE_LOOP };

/* A frame that waits for its name. */
struct pending_name {
	/* place: of a Python or Java frame, or else an enum name_place */
	struct python_name key;
	uint64_t frame; /* frame.id */
	enum frame_kind kind;
	bool loop;
	bool emitted; /* the frame was put without its name */
	bool requested; /* the name was requested, and there is no reply yet */
	/* There is no name yet, but a later perf map, kallsyms or debug file may have a name. */
	bool missing;
	UT_hash_handle hh;
};

/*
 * One frame of a trail (see below), without its object, which may not exist any more when the next
 * stack comes.
 */
struct trail_node {
	struct path_frame frame;
	struct cache_key path; /* key of the path from the outermost frame to this one */
	uint64_t stack; /* stack.id; 0: not looked up */
};

/*
 * The path of the last stack in a context (see stack_context()). Successive samples of one program
 * differ only in some innermost frames. The frames before these need no search among mappings, no
 * hashing, and no lookup in a cache that is larger than the CPU's own.
 */
struct trail {
	/* stack_context() of the stack; 0: the trail is empty */
	uint64_t context;
	/*
	 * stack.id of the outermost frame of an incomplete stack, which says how the stack ended;
	 * 0: the stack is complete, or the id was not needed
	 */
	uint64_t root;
	unsigned int count;
	struct trail_node nodes[PATH_FRAMES]; /* outermost first */
};

/* Number of trails that are kept, since samples of several CPUs and contexts alternate. */
#define TRAILS 16

/* Frames that wait for their names. */
struct pending_names {
	struct pending_name *waiting;
	unsigned int missing; /* number of waiting frames that have missing set */
	uint64_t unready; /* frames whose names were pending when the recording ended */
	char *mangled; /* path of the first file with a name that takes too much to demangle */
	bool urgent; /* a name of generated code was requested, whose addresses are soon reused */
};

/* Lines and inlined functions. */
struct frame_places {
	struct inlines *inlines; /* NULL: lines and inlined functions are not requested */
	struct cache *placed; /* function.id -> nothing: functions put with file and line */
	struct pending_places *pending; /* frames whose inlined functions have been requested */
	size_t pending_bytes;
};

struct intern {
	struct objects *objects;
	struct symbolizer *symbolizer;
	struct sink *sink;
	/*
	 * words and ends of a stack in a context (stack_context()) -> stack.id << 1 | whether the
	 * stack has evaluation loops
	 */
	struct cache *words;
	struct cache *stacks; /* path of frames from the outermost one on -> stack.id */
	struct cache *frames; /* struct frame_key and the object's pass -> frame.id */
	struct cache *functions; /* function_key() -> function.id */
	uint64_t last_stack, last_frame, last_function;
	struct intern_python python;
	struct pending_names names;
	struct frame_places places;
	/* counts changes of objects: frames of earlier stacks are not valid for later ones */
	uint64_t epoch;
	int error; /* first error of a callback, which intern_tick() returns; 0: none */
	struct error why; /* text of error */
	/* path of the current stack */
	struct path path;
	struct trail trails[TRAILS]; /* indexed by context */
};

/*
 * intern_names.c: put a new frame, either at once or, if the frame may get a name, when the name is
 * resolved or at the next tick. Returns 0 or a negative errno.
 */
int intern_new_frame(struct intern *n, const struct frame_key *key, uint64_t id, struct error *err);
void intern_free_names(struct intern *n);
/*
 * Store the function.id of a function of an object in *out; a new function is put. Returns 0 or a
 * negative errno.
 */
int intern_function(struct intern *n, uint64_t object, const struct symbol *s, uint64_t *out,
		    struct error *err);

/* Put the frame that waited with what is known of it. Returns 0 or a negative errno. */
int intern_put_named(struct intern *n, const struct pending_name *w, const struct frame *name,
		     struct error *err);
/* Return the frame that waits for a name; NULL: none does. */
struct pending_name *intern_pending_name(const struct intern *n, uint64_t object, uint64_t address,
					 uint64_t place);
void intern_forget_pending(struct intern *n, struct pending_name *w);

/* intern_places.c: request the methods of a Java frame. Returns 0 or a negative errno. */
int intern_java_request(struct intern *n, const struct python_name *name);

/*
 * intern_places.c: request the lines and inlined functions of a frame that has been put. name: the
 * symbolizer's reply for the frame, which may have no name.
 */
void intern_request_places(struct intern *n, const struct frame *f, const struct symbol *name);
void intern_free_places(struct intern *n);

#endif
