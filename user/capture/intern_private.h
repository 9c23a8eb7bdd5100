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

/* One frame without its id. */
struct frame_key {
	struct object *object; /* NULL: the address lies in no known object */
	uint64_t address;
	uint64_t place; /* PYTHON_PLACE() of a Python frame */
	enum frame_kind kind;
	bool loop;
};

/* A native frame that is known to be a loop has a name apart from other frames at its address. */
enum name_place { PLACE_PLAIN, PLACE_LOOP };

/* A frame whose name has been requested. */
struct pending_name {
	struct python_name key; /* place: an enum name_place unless it is a Python frame */
	uint64_t frame; /* frame.id */
	enum frame_kind kind;
	bool loop;
	bool emitted; /* the frame was put without its name */
	bool requested; /* a request is pending */
	/* There is no name yet, but a later perf map, kallsyms or debug file may have one. */
	bool missing;
	UT_hash_handle hh;
};

/*
 * One frame of a trail, without its object, which may not exist any more when the next stack comes.
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
	/* hash of what gives the addresses their meaning, see stack_context(); 0: empty */
	uint64_t context;
	/* stack.id of the frame for an incomplete stack's end, if the path's first frame is new */
	uint64_t root;
	unsigned int count;
	struct trail_node nodes[PATH_FRAMES]; /* outermost first */
};

/* Number of contexts whose trails are kept, since samples of several CPUs alternate. */
#define TRAILS 16

/* Frames whose names have been requested. */
struct pending_names {
	struct pending_name *waiting;
	unsigned int missing; /* of waiting, how many have missing set */
	uint64_t unready; /* frames whose names were pending when the recording ended */
	char *mangled; /* path of the first file with a name that takes too much to demangle */
	bool urgent; /* a name of generated code was requested, whose addresses are soon reused */
};

/* Lines and inlined functions. */
struct frame_places {
	struct inlines *inlines; /* NULL: they are not requested */
	struct cache *placed; /* function.id -> nothing: functions put with file and line */
	struct pending_places *pending; /* frames whose inlined functions have been requested */
	size_t pending_bytes;
};

struct intern {
	struct objects *objects;
	struct symbolizer *symbolizer;
	struct sink *sink;
	/* words of a stack in a version of a space -> stack.id << 1 | has loops */
	struct cache *words;
	struct cache *stacks; /* path of frames from the outermost one on -> stack.id */
	struct cache *frames; /* object, address, pass -> frame.id */
	struct cache *functions; /* object, start, name -> function.id */
	uint64_t last_stack, last_frame, last_function;
	struct intern_python python;
	struct pending_names names;
	struct frame_places places;
	uint64_t epoch; /* counts renewed objects */
	int error; /* of the sink, while names are resolved */
	struct error why;
	/* path of the current stack */
	struct path path;
	struct trail trails[TRAILS]; /* indexed by context */
};

/*
 * intern_names.c: put a new frame, either at once or, if it may get a name, when the name is
 * resolved or at the next tick. Returns 0 or a negative errno.
 */
int intern_new_frame(struct intern *n, const struct frame_key *key, uint64_t id, struct error *err);
void intern_free_names(struct intern *n);
/*
 * Get the function.id of a function of an object in *out; a new function is put. Returns 0 or a
 * negative errno.
 */
int intern_function(struct intern *n, uint64_t object, const struct symbol *s, uint64_t *out,
		    struct error *err);

/*
 * intern_places.c: request the lines and inlined functions of a frame that has been put with its
 * name, or without one.
 */
void intern_request_places(struct intern *n, const struct frame *f, const struct symbol *name);
void intern_free_places(struct intern *n);

#endif
