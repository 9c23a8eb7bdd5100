/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: what code comes from. A file is one object however many processes
 * map it, known by the device, inode and generation that the kernel reports;
 * a JIT's code is one object per process; the kernel and the vDSO are one
 * each. An object is a mapping entity of the trace and an object of the
 * symbolizer, under one id.
 */
#ifndef SKEIN_CAPTURE_OBJECTS_H
#define SKEIN_CAPTURE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pipe.h"
#include "capture/opener.h"
#include "capture/shares.h"
#include "capture/tables.h"
#include "symbolizers/client.h"

enum object_state {
	OBJECT_UNSEEN, /* nobody has asked for it */
	OBJECT_OPENING, /* the opener was asked */
	OBJECT_KNOWN, /* the symbolizer has it */
	OBJECT_UNREADABLE, /* it could not be opened, or is no use */
};

struct file_key {
	uint64_t inode;
	uint32_t major, minor;
};

/*
 * The search for a separate debug file. Candidates are handed to the worker
 * one by one: the next when it has refused the one before.
 */
struct debug_search {
	bool asked; /* the search has begun */
	bool awaited; /* a file may still come, and with it names */
	bool opening; /* the opener may find more candidates */
	bool reading; /* the worker looks at one */
	unsigned int count, next; /* candidates, and which is the next */
	int files[OPENER_DEBUG_MAX]; /* descriptors; those from next on are ours */
};

struct object {
	uint64_t id; /* mapping.id and the symbolizer's object; a changed file gets a new one */
	enum mapping_kind kind;
	enum object_state state;
	struct file_key key; /* MAPPING_FILE */
	uint64_t generation; /* of the inode; 0 until a side-band record told it */
	char *path;
	char build_id[2 * 64 + 1];
	char debuglink[256];
	uint64_t size;
	uint64_t process; /* process.id, MAPPING_JIT */
	uint32_t pid; /* a process that maps it, or did */
	uint32_t parent; /* its parent: shares its root, mostly */
	uint64_t born; /* of pid, ns */
	uint64_t start, end; /* where pid maps it */
	uint64_t seen; /* when it did, ns */
	uint64_t size_then; /* of fstat when it was opened: has it changed since? */
	int64_t mtime_then;
	uint64_t checked; /* when it was last opened or tried, ns */
	bool failed; /* it could not be opened before */
	bool suspicious; /* read by the helper aside: its file system may not answer */
	uint32_t owner; /* uid of who mapped it first; OWNER_SHARED once somebody else waits, too */
	uint64_t settled; /* when its table came, or was known not to, ns; 0: not yet */
	bool calm; /* programs from it have lacked nothing: their begin wakes nobody any more */
	bool refused; /* it stands for all files of its owner that are beyond its share */
	struct object *next_refused; /* the same, of another user */
	struct debug_search debug;
	bool generated; /* a file in memory that is no ELF: a JIT's code, named by its perf map */
	uint32_t table; /* its slot among the unwind tables */
	bool read; /* its symbols have been asked for */
	bool met; /* by a sample */
	bool emitted; /* as a mapping entity, as it is now */
	uint32_t users; /* address spaces that map it */
	struct python_file *python; /* the interpreter in it; NULL: none, or not known yet */
	uint32_t python_layout; /* number + 1 of its layout, 0: its frames cannot be read */
	uint64_t code_type; /* of a process's memory: address of PyCode_Type */
	bool wanted; /* JIT: frames were met since its perf map was last read */
	bool missed; /* kernel: a frame without a name was met since kallsyms was read */
	uint32_t pass; /* counts what changed: frames of another pass are other frames */
	UT_hash_handle by_file, by_id;
};

struct objects;

struct objects_context {
	struct opener *opener;
	struct symbolizer *symbolizer;
	struct tables *tables;
	bool unwind; /* have the tables of all files made */
	/*
	 * An object was opened or could not be. changed: it was known as something
	 * else before (a perf map that grew, a file overwritten or found after all).
	 */
	void (*renewed)(void *context, struct object *o, bool changed);
	void *context;
};

int objects_new(struct objects **ret, const struct objects_context *c, struct error *err);
void objects_free(struct objects *o);

struct object *objects_kernel(struct objects *o);
/* The vDSO that is mapped there; NULL: none that is known. */
struct object *objects_vdso(struct objects *o, uint64_t start, uint64_t end);

/* Where, when and by whom a file or region is mapped. */
struct mapped {
	uint64_t seen; /* ns */
	uint32_t pid, parent;
	uint64_t born;
	uint64_t start, end;
	struct file_id file;
	const char *path;
};

/* Whether it is a file: the rest is memory in which only the process knows what it runs. */
bool mapped_is_file(const struct mapped *m);
/*
 * The object of an executable mapping of a file, a new one if none is known.
 * open_now: its file may be gone when the first sample comes. NULL without memory.
 */
struct object *objects_file(struct objects *o, const struct mapped *m, bool open_now);
/* The object of a process's generated code; process is a process.id. */
struct object *objects_jit(struct objects *o, const struct mapped *m, uint64_t process);
/* The memory of a process whose interpreter is that; code_type: address of its PyCode_Type. */
struct object *objects_python(struct objects *o, const struct mapped *m, uint64_t process,
			      const struct python_file *f, uint64_t code_type);
/*
 * The object of a file whose mapping has been told but is not in order yet: a new one is opened at
 * once, since its process may be gone by then. NULL: no file, or no memory.
 */
const struct object *objects_foresee(struct objects *o, const struct mapped *m);
struct object *objects_by_id(struct objects *o, uint64_t id);

/* A sample has met it: have it opened if it is not. */
void objects_need(struct objects *o, struct object *object);
/* Another address space maps it, or one does no longer. */
void objects_use(struct object *object);
void objects_unuse(struct object *object);

/* An answer of the opener; facts of the symbolizer. now: ns. */
void objects_opened(struct objects *o, const struct open_answer *a, uint64_t now);
void objects_facts(struct objects *o, uint64_t id, const struct object_facts *f);
/* The answer to a question for an unwind table (symbolizer_unwind()). */
void objects_table(struct objects *o, uint64_t id, int status, const struct unwind_table *t);

/*
 * The answer to symbolizer_inspect(). layout: number + 1 under which the walkers know its layout,
 * 0: they do not. Returns the object if there is an interpreter in it, else NULL.
 */
struct object *objects_inspected(struct objects *o, uint64_t id, const struct python_file *f,
				 uint32_t layout);

/* Have the perf maps looked at again of which frames were met, sometimes kallsyms. now: ns. */
void objects_refresh(struct objects *o, uint64_t now);
/* Have kallsyms read again if a name was missed there; returns whether. */
bool objects_reread_kernel(struct objects *o, uint64_t now);
/* Have the table of a slot made again. */
void objects_want_table(struct objects *o, uint32_t slot);
/* Forget files and memories that nobody maps, once there are many. */
void objects_trim(struct objects *o);

/* The recording ends. Nobody waits for what was not opened until now. */
void objects_end(struct objects *o);
const struct shares *objects_shares(const struct objects *o);

/* Put the mapping entities that were met and are new or have changed. */
int objects_emit(struct objects *o, uint64_t host, struct sink *sink, struct error *err);
/* Begin anew: those that are met from now on are put again. */
void objects_forget(struct objects *o);

#endif
