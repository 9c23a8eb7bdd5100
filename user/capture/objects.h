/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects are the sources of code and of its names. A file is one object however many processes map
 * it, identified by the device, inode and generation that the kernel reports. The generated code of
 * a process (JIT) is one object per process, and so is the memory of a process that runs Python or
 * Java.
 * The kernel, the vDSO and the 32-bit vDSO are one object each. An object is a mapping entity of
 * the trace and an object of the symbolizer, under the same id.
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

struct jvm_counters;

enum object_state {
	OBJECT_UNSEEN, /* not requested yet */
	OBJECT_OPENING, /* requested from the opener */
	OBJECT_KNOWN, /* known to the symbolizer */
	OBJECT_UNREADABLE, /* could not be opened, or is unusable */
};

/* Where, when and by which process something is mapped. */
struct mapped_place {
	uint64_t seen; /* time at which the process mapped the object, ns */
	uint64_t process; /* process.id, if the code belongs to this process alone; else 0 */
	uint32_t pid, parent; /* pid of the parent, which usually has the same root, or 0 */
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
 * The search for a separate debug file. The worker gets one candidate at a time, and the next
 * candidate after it has refused the previous candidate.
 */
struct debug_search {
	bool begun; /* the search was requested from the opener */
	bool awaited; /* the search has not ended: a debug file may still bring names */
	bool opening; /* the opener may find more candidates */
	bool reading; /* the worker reads a candidate */
	/* a server was asked or need not be; a server's file is read */
	bool asked, theirs;
	unsigned int count, next; /* number of candidates; index of the next one */
	/* descriptors; the object owns files[next] to files[count - 1] */
	int files[OPENER_DEBUG_MAX];
};

/* Bytes of a struct file_id that identify a file as long as its inode number is not reused. */
#define FILE_KEY_SIZE offsetof(struct file_id, generation)

/* Members for files (MAPPING_FILE) only; the vDSO uses build_id, debuglink and settled, too. */
struct object_file {
	struct file_id id; /* generation 0 until a side-band record reports one */
	char build_id[2 * 64 + 1];
	char debuglink[256];
	bool failed; /* the last attempt to open the file failed */
	bool generated; /* a file in memory that is not ELF: code of a JIT, named by its perf map */
	/*
	 * starts of programs from this file no longer wake the recorder, since the files of an
	 * ended process that ran the program were all known
	 */
	bool calm;
	bool refused; /* stands for all files of its owner beyond the owner's share */
	struct object *next_refused; /* the next such object, of another user */
	uint64_t settled; /* time of the first reply to a request for its table, ns; 0: none yet */
	struct debug_search debug;
	UT_hash_handle by_file;
};

/* Python interpreter in a file (MAPPING_FILE), or of the process of a memory (MAPPING_PYTHON). */
struct object_python {
	struct python_file *file; /* NULL: none, or not known yet */
	/* of a file: pythons_layout() of the interpreter; 0: frames cannot be read */
	uint32_t layout;
	uint64_t code_type; /* of a memory: address of PyCode_Type in the process */
};

/* HotSpot in a file (MAPPING_FILE), or in the process of a memory (MAPPING_JAVA). */
struct object_java {
	/* NULL: none, or not known yet; of a memory, with addresses in the process */
	struct hotspot_file *file;
	/* of a memory: */
	uint32_t number; /* jvms_send(); 0: its frames are not read, or not yet */
	unsigned int attempts; /* number of requests for the facts of the JVM */
	unsigned int replies; /* number of replies that had the facts */
	uint64_t retry_at; /* time of the next request, ns */
	bool awaited; /* counted in live_walkers.jvms_awaited */
	struct jvm_counters *counters; /* its readings; NULL: none yet */
	bool counters_refused; /* described says why its counters cannot be read */
	struct {
		uint64_t due; /* time from which the list may be requested again, ns */
		uint64_t generation; /* of the process table, at the last request */
		uint32_t lists; /* number of complete lists */
	} threads;
	char *described; /* the JVM, for people; NULL: nothing is known yet */
	bool reported; /* the info record with that text was emitted */
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
	/* where a process maps or has mapped the object; the opener looks for the file there */
	struct mapped_place mapped;
	struct file_version opened; /* of a file or a perf map */
	/* time at which the file was last checked for a change, or its opening failed, ns */
	uint64_t checked;
	bool suspicious; /* read by the second worker: the file system may not respond */
	/*
	 * uid of the process that mapped the object first, or OWNER_UNKNOWN; OWNER_SHARED once
	 * another user waits for the object, too
	 */
	uint32_t owner;
	uint32_t table; /* slot among the unwind tables */
	uint32_t users; /* number of references, see objects_use() */
	uint32_t pass; /* counts changes: frames of different passes are different frames */
	bool wanted; /* a sample needs the object; JIT: since its perf map was last requested */
	bool read; /* the symbols have been requested */
	bool sampled; /* a sample since objects_forget() has a frame in this object */
	bool emitted; /* the mapping entity of the current state was put since objects_forget() */
	/* parts that only some kinds have, else zeroed */
	struct object_file file;
	struct object_python python;
	struct object_java java;
	UT_hash_handle by_id;
};

struct objects;

struct objects_context {
	struct opener *opener;
	struct debuginfod *debuginfod; /* NULL: no servers are asked for debug files */
	struct symbolizer *symbolizer;
	struct tables *tables;
	bool unwind; /* also request the unwind tables of files */
	bool inspect; /* also look for interpreters and for HotSpot in files */
	/*
	 * Called after an object was opened or could not be opened, when the search for its debug
	 * file has ended, and when kallsyms is read again. changed: frames known so far are not
	 * valid for later stacks (a perf map that was read or has changed, a file that was
	 * overwritten, or opened after a failure, or turned out to be generated code).
	 */
	void (*object_updated)(void *context, struct object *o, bool changed);
	void *context;
};

int objects_new(struct objects **out, const struct objects_context *c, struct error *err);
void objects_free(struct objects *o);

struct object *objects_kernel(struct objects *o);
/*
 * Return the object of the vDSO mapped at [start, end). NULL: it is a 64-bit vDSO of another size
 * than the recorder's own.
 */
struct object *objects_vdso(struct objects *o, uint64_t start, uint64_t end);

/*
 * Return whether the mapping is that of a file that can be opened. The code in all other mappings
 * exists only in the memory of the process.
 */
bool mapped_is_file(const struct mapped_region *m);
/*
 * Return the object of an executable file mapping, a new one if none is known; if its user has too
 * many files (file_quotas.h), the object that stands for them; NULL without memory. open_now: open
 * the file now, since it may be gone when the first sample comes.
 */
struct object *objects_get_file(struct objects *o, const struct mapped_region *m, bool open_now);
/* Return a new object for the generated code of a process, or NULL without memory. */
struct object *objects_new_jit(struct objects *o, const struct mapped_place *at);
/*
 * Return a new object for the memory of a process that runs interpreter f, or NULL without memory.
 * code_type: address of PyCode_Type in the process.
 */
struct object *objects_new_python(struct objects *o, const struct mapped_place *at,
				  const struct python_file *f, uint64_t code_type);
/*
 * Return a new object for the memory of a process that runs a JVM, or NULL without memory. f: the
 * symbols of its libjvm, at their addresses in the process.
 */
struct object *objects_new_java(struct objects *o, const struct mapped_place *at,
				const struct hotspot_file *f);
/*
 * Return the object of a file, for a record of its mapping that is not in order yet. A new object
 * is opened at once, since its process may be gone later. NULL: not a file, or no memory.
 */
const struct object *objects_prefetch(struct objects *o, const struct mapped_region *m);
struct object *objects_by_id(struct objects *o, uint64_t id);

/* Open the object and request its symbols, unless that was done, because a sample needs them. */
void objects_need(struct objects *o, struct object *object);
/*
 * Add or remove a reference to the object: of an address space that maps it, or of a process or
 * prefetch (memories.h) to which it belongs. Objects without references may be forgotten
 * (objects_trim()).
 */
void objects_use(struct object *object);
void objects_unuse(struct object *object);

/*
 * objects_handle_opened() processes a reply of the opener, objects_handle_facts() a reply of the
 * symbolizer. now: ns.
 */
void objects_handle_opened(struct objects *o, const struct open_reply *a, uint64_t now);
void objects_handle_facts(struct objects *o, uint64_t id, const struct object_facts *f);
/* Process the reply of debuginfod servers. Takes ownership of fd; -1: they have no file. */
void objects_handle_fetched(struct objects *o, uint64_t id, int fd);
/* Process the reply to a request for an unwind table (symbolizer_request_table()). */
void objects_handle_table(struct objects *o, uint64_t id, int status, const struct unwind_table *t);

/*
 * Process the reply to symbolizer_inspect(). layout: result of pythons_layout(), or 0 if the
 * walkers cannot read the frames. Return the object if it has an interpreter, else NULL.
 */
struct object *objects_handle_inspected(struct objects *o, uint64_t id, const struct python_file *f,
					uint32_t layout);

/* Request the table of the code that a JVM makes once. object: its memory. */
void objects_request_made_table(struct objects *o, struct object *object);
/* Record that a file is a libjvm. Return the object, NULL if there is none or no memory. */
struct object *objects_handle_hotspot(struct objects *o, uint64_t id, const struct hotspot_file *f);

/*
 * Read again the perf maps of objects that were needed since their last request, and kallsyms if a
 * name was missing in it; kallsyms every 10 s at most. now: ns.
 */
void objects_refresh(struct objects *o, uint64_t now);
/* Record that a kernel frame has no name, so that kallsyms is read again. */
void objects_miss_kernel_name(struct objects *o);
/* Read kallsyms again now if a name was missing in it; return whether the read was started. */
bool objects_reread_kernel(struct objects *o, uint64_t now);
/* Request the table of a slot again, because walks need it after its eviction. */
void objects_request_table(struct objects *o, uint32_t slot);
/*
 * Forget objects without references, except the kernel and the vDSO, once there are more than 1024:
 * the least recently mapped ones, first those of the user with the most files, down to 512.
 */
void objects_trim(struct objects *o);

/* Count the files that the opener has not opened by the end of the recording as refused. */
void objects_end(struct objects *o);
const struct file_quotas *objects_quotas(const struct objects *o);

/*
 * Emit a mapping entity for each object that has a sample and is new or has changed, and info
 * records about Python interpreters in such objects and about refused files (file_quotas.h). Return
 * 0 or a negative errno.
 */
int objects_emit(struct objects *o, uint64_t host, struct sink *sink, struct error *err);
/* Have the objects emitted again that later samples have frames in. */
void objects_forget(struct objects *o);

#endif
