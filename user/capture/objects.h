/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects are the places that code comes from. A file is one object however many processes map it,
 * identified by the device, inode and generation that the kernel reports; the generated code of a
 * JIT is one object per process; the kernel and the vDSO are one object each. An object is a
 * mapping entity of the trace and an object of the symbolizer, under the same id.
 */
#ifndef SKEIN_CAPTURE_OBJECTS_H
#define SKEIN_CAPTURE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pipe.h"
#include "capture/file_quotas.h"
#include "capture/opener.h"
#include "capture/tables.h"
#include "symbolizers/client.h"

enum object_state {
	OBJECT_UNSEEN, /* not requested yet */
	OBJECT_OPENING, /* requested from the opener */
	OBJECT_KNOWN, /* known to the symbolizer */
	OBJECT_UNREADABLE, /* could not be opened, or is unusable */
};

/* Where, when and by which process something is mapped. */
struct mapped_place {
	uint64_t seen; /* when the process mapped it, ns */
	uint64_t process; /* process.id, if the code belongs to this process alone; else 0 */
	uint32_t pid, parent; /* the parent usually has the same root */
	uint64_t born; /* start time of pid, ns; 0: not known precisely */
	uint64_t start, end; /* address range in pid */
};

/* A mapping as a side-band record or a scan of /proc reports it. */
struct mapped_region {
	struct mapped_place at;
	struct file_id file;
	const char *path;
};

/*
 * The search for a separate debug file. The worker is given one candidate at a time: the next one
 * after it has refused the one before.
 */
struct debug_search {
	bool begun; /* the search has been requested */
	bool awaited; /* a debug file may still come, and with it names */
	bool opening; /* the opener may find more candidates */
	bool reading; /* the worker reads a candidate */
	unsigned int count, next; /* number of candidates; index of the next one */
	/* descriptors; the object owns files[next] to files[count - 1] */
	int files[OPENER_DEBUG_MAX];
};

/* Bytes of a struct file_id that identify a file as long as its inode number is not reused. */
#define FILE_KEY_SIZE offsetof(struct file_id, generation)

/* What only files have (MAPPING_FILE), except for the build-id and settled: the vDSO has them. */
struct object_file {
	struct file_id id; /* generation 0 until a side-band record reports one */
	char build_id[2 * 64 + 1];
	char debuglink[256];
	bool failed; /* an earlier attempt to open the file failed */
	bool generated; /* a file in memory that is not ELF: code of a JIT, named by its perf map */
	/* programs from this file lacked nothing: their start no longer wakes the consumer */
	bool calm;
	bool refused; /* stands for all files of its owner beyond the owner's share */
	struct object *next_refused; /* the next such object, of another user */
	uint64_t settled; /* when the table arrived or turned out not to exist, ns; 0: not yet */
	struct debug_search debug;
	UT_hash_handle by_file;
};

/* The interpreter in a file (MAPPING_FILE), or that of a process with this memory (_PYTHON). */
struct object_python {
	struct python_file *file; /* NULL: none, or not known yet */
	/* of a file: number of the interpreter's layout, plus 1; 0: frames cannot be read */
	uint32_t layout;
	uint64_t code_type; /* of a memory: address of PyCode_Type in the process */
};

/* A file as it was when it was opened; used to detect a change. */
struct file_version {
	uint64_t size; /* bytes */
	int64_t mtime_ns;
};

struct object {
	uint64_t id; /* mapping.id and the symbolizer's object; a changed file gets a new one */
	enum mapping_kind kind;
	enum object_state state;
	char *path;
	struct mapped_place mapped; /* by a process that maps or has mapped the object */
	struct file_version opened; /* of a file or a perf map */
	uint64_t checked; /* when the file was last opened or tried, ns */
	bool suspicious; /* read by the second worker: the file system may not respond */
	/*
	 * uid of the process that mapped the object first; OWNER_SHARED once another user waits for
	 * it too
	 */
	uint32_t owner;
	uint32_t table; /* slot among the unwind tables */
	uint32_t users; /* address spaces that map the object */
	uint32_t pass; /* counts changes: frames of different passes are different frames */
	bool wanted; /* a sample needs the object; JIT: since its perf map was last read */
	bool read; /* the symbols have been requested */
	bool sampled; /* a sample has a frame in this object */
	bool emitted; /* the trace has a mapping entity of the current state */
	/* parts of some kinds, else zeroed */
	struct object_file file;
	struct object_python python;
	UT_hash_handle by_id;
};

struct objects;

struct objects_context {
	struct opener *opener;
	struct symbolizer *symbolizer;
	struct tables *tables;
	bool unwind; /* also request the unwind tables of files */
	/*
	 * Called after an object was opened or could not be opened. changed: the object was known
	 * as something else before (a perf map that grew, a file that was overwritten or found
	 * after all).
	 */
	void (*object_updated)(void *context, struct object *o, bool changed);
	void *context;
};

int objects_new(struct objects **out, const struct objects_context *c, struct error *err);
void objects_free(struct objects *o);

struct object *objects_kernel(struct objects *o);
/* Return the vDSO object of a mapping, or NULL if none is known. */
struct object *objects_vdso(struct objects *o, uint64_t start, uint64_t end);

/*
 * Return whether the mapping is that of a file. All other mappings are memory whose code only the
 * process knows.
 */
bool mapped_is_file(const struct mapped_region *m);
/*
 * Return the object of an executable file mapping, a new one if none is known; NULL without memory.
 * open_now: open the file now, since it may be gone when the first sample comes.
 */
struct object *objects_get_file(struct objects *o, const struct mapped_region *m, bool open_now);
/* Return a new object for the generated code of a process. */
struct object *objects_new_jit(struct objects *o, const struct mapped_place *at);
/*
 * Return a new object for the memory of a process that runs interpreter f; code_type: address of
 * PyCode_Type.
 */
struct object *objects_new_python(struct objects *o, const struct mapped_place *at,
				  const struct python_file *f, uint64_t code_type);
/*
 * Return the object of a file whose mapping was reported but is not in order yet. A new object is
 * opened at once, since its process may be gone later. NULL: not a file, or no memory.
 */
const struct object *objects_prefetch(struct objects *o, const struct mapped_region *m);
struct object *objects_by_id(struct objects *o, uint64_t id);

/* Open the object if necessary and request its symbols, because a sample has a frame in it. */
void objects_need(struct objects *o, struct object *object);
/*
 * Count the address spaces that map the object: objects_use() adds one, objects_unuse() removes
 * one.
 */
void objects_use(struct object *object);
void objects_unuse(struct object *object);

/*
 * objects_handle_opened() processes a reply of the opener, objects_handle_facts() a reply of the
 * symbolizer. now: ns.
 */
void objects_handle_opened(struct objects *o, const struct open_reply *a, uint64_t now);
void objects_handle_facts(struct objects *o, uint64_t id, const struct object_facts *f);
/* Process the reply to a request for an unwind table (symbolizer_request_table()). */
void objects_handle_table(struct objects *o, uint64_t id, int status, const struct unwind_table *t);

/*
 * Process the reply to symbolizer_inspect(). layout: number of the layout for the walkers, plus 1;
 * 0: the walkers cannot read this layout. Return the object if it has an interpreter, else NULL.
 */
struct object *objects_handle_inspected(struct objects *o, uint64_t id, const struct python_file *f,
					uint32_t layout);

/*
 * Read again the perf maps of objects with new frames, and kallsyms if a name is missing there;
 * kallsyms every 10 s at most. now: ns.
 */
void objects_refresh(struct objects *o, uint64_t now);
/* A kernel frame has no name: kallsyms may have it when it is read again. */
void objects_miss_kernel_name(struct objects *o);
/* Read kallsyms again if a name was missing in it; return whether the read was started. */
bool objects_reread_kernel(struct objects *o, uint64_t now);
/* Request the table of a slot again. */
void objects_request_table(struct objects *o, uint32_t slot);
/* Forget files and process memories that no address space maps, once there are many. */
void objects_trim(struct objects *o);

/* Call this at the end of the recording: it counts the files that are still not open as refused. */
void objects_end(struct objects *o);
const struct file_quotas *objects_quotas(const struct objects *o);

/* Emit a mapping entity for each object that has a sample and is new or has changed. */
int objects_emit(struct objects *o, uint64_t host, struct sink *sink, struct error *err);
/* Have all objects emitted again that are seen in samples from now on. */
void objects_forget(struct objects *o);

#endif
