/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The privileged side of the symbolizer: starts the worker process that has no
 * privileges, hands it open files, asks it for names and unwind tables in
 * batches and reads the answers without ever waiting for one. A worker that
 * dies or hangs is killed and started anew; the object it was busy with is
 * marked bad, all others are handed over again, and what was asked and not yet
 * answered is asked again.
 *
 * An object is something that has symbols: an ELF file, the kernel, a JIT's
 * perf map. Its number is chosen by the caller and never used twice.
 */
#ifndef SKEIN_SYMBOLIZERS_CLIENT_H
#define SKEIN_SYMBOLIZERS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct helper_cost;
struct python_file;
struct python_layout;
struct unwind_question;
struct unwind_table;

enum object_kind {
	OBJECT_ELF = 1, /* addresses are file offsets; also the vDSO's image */
	OBJECT_KERNEL,	/* fd of /proc/kallsyms; addresses are absolute */
	OBJECT_PERFMAP, /* fd of a perf-PID.map; addresses are those of the process */
	OBJECT_PYTHON,	/* fd of /proc/PID/mem; addresses are those of code objects */
};

enum symbol_flag {
	SYMBOL_FOUND = 1,      /* start is set, and name if the file has one for the function */
	SYMBOL_START = 2,      /* threads begin there (see elf.h); also without FOUND */
	SYMBOL_BAD_OBJECT = 4, /* the object is marked bad or could not be read */
	SYMBOL_FREED = 16,     /* of Python: another code object, or none, is there by now */
	SYMBOL_MANGLED = 8,    /* name is as linkers know it: demangling takes too much time */
};

/* One answer. Texts are valid during the callback. */
struct symbol {
	const char *name;	 /* demangled; "" if there is none */
	const char *system_name; /* "" if the same */
	uint64_t start;		 /* of the function, in the address space of the question */
	uint64_t size;		 /* bytes; 0 unknown */
	unsigned int flags;	 /* enum symbol_flag */
	/* of OBJECT_PYTHON; else 0 and "" */
	uint64_t place;	     /* of the question */
	const char *file;    /* source file */
	uint32_t first_line; /* where the function begins */
	uint32_t line;	     /* of the place; 0 unknown */
};

/* What the worker learnt of an object when it read it. */
struct object_facts {
	char build_id[2 * 64 + 1]; /* lowercase hex, "" none */
	char debuglink[256];	   /* file name only, "" none */
	uint32_t debuglink_crc;
	bool wants_debug;   /* there is no .symtab: a separate debug file would help */
	bool bad;	    /* unreadable, hostile, too large, or killed the worker */
	bool hidden;	    /* the kernel hides its addresses from who opened kallsyms; also bad */
	uint64_t symbols;   /* how many there are */
	uint64_t bad_lines; /* perf map lines that were not understood */
};

/* Functions at one address, inlined ones and the one around them. */
#define SOURCE_PLACES_MAX 64

/* A function at an address, and the line at which it stands there. Texts are valid meanwhile. */
struct source_place {
	const char *name;	 /* demangled; "" unknown */
	const char *system_name; /* "" if the same */
	const char *declared;	 /* source file in which it is defined; "" unknown */
	uint32_t declared_line;	 /* where; 0 unknown */
	const char *file;	 /* of the line; "" unknown */
	uint32_t line; /* that runs, or calls the function of the place before; 0 unknown */
};

/* What the worker learnt of a file's debugging information. */
struct source_facts {
	char build_id[2 * 64 + 1]; /* lowercase hex, "" none */
	char debuglink[256];	   /* file name only, "" none */
	char common[512];	   /* path of what dwz took out of it; "" none */
	char common_id[2 * 64 + 1]; /* build-id of that */
	int32_t status;		   /* 0, or a negative errno: why there are no answers */
	uint32_t split;		   /* units whose information is in .dwo files */
	uint64_t needed;	   /* bytes of it, unpacked */
	bool wants_debug;	   /* a separate debug file would help */
	bool wants_common;	   /* the common part would */
};

struct symbolizer_events {
	/* an answer to one address of symbolizer_ask() */
	void (*symbol)(void *context, uint64_t object, uint64_t address, const struct symbol *s);
	/* the object was read (again); may be called more than once for one object */
	void (*facts)(void *context, uint64_t object, const struct object_facts *facts);
	/* the answer to symbolizer_unwind(), which see; may be NULL */
	void (*table)(void *context, uint64_t object, int status, const struct unwind_table *t);
	/* the same to symbolizer_pages() */
	void (*pages)(void *context, uint64_t object, int status, const struct unwind_table *t);
	/* the answer to symbolizer_inspect(): f is never NULL, support NONE if it failed. May be NULL */
	void (*python)(void *context, uint64_t object, const struct python_file *f);
	/*
	 * The answer to symbolizer_sources(); and again, with its status, if there are no answers
	 * any more, because a file takes too much memory or has killed workers. May be NULL, as
	 * the next.
	 */
	void (*sources)(void *context, uint64_t object, const struct source_facts *f);
	/* to an address of symbolizer_ask() of a symbolizer of sources: innermost first */
	void (*places)(void *context, uint64_t object, uint64_t address,
		       const struct source_place *p, unsigned int count);
	void *context;
};

struct symbolizer_stats {
	uint64_t asked; /* addresses */
	uint64_t answered;
	uint64_t restarts; /* of the worker */
	uint64_t bad_objects;
	uint64_t mangled; /* names of places that would have taken too much to demangle */
	uint64_t tables_made;	/* answered with a table that the worker made */
	uint64_t tables_cached; /* with one of the cache */
	uint64_t tables_failed; /* with another status than 0 */
};

struct symbolizer;

/*
 * Fork the worker, which gets a user of its own if the caller may change users. A lost
 * worker is replaced by another fork, so the caller must stay single-threaded,
 * and wait for its own children by their pids only. 0 or a negative errno.
 */
int symbolizer_new(struct symbolizer **ret, const struct symbolizer_events *events,
		   struct error *err);
void symbolizer_free(struct symbolizer *s);

/*
 * The same for lines and inlined functions of ELF files, and nothing else: a worker of its own,
 * since debugging information is the largest thing that is read, and the likeliest to kill who
 * reads it. memory: bytes that the worker may take; it gives way to all others for the CPU.
 */
int symbolizer_new_sources(struct symbolizer **ret, const struct symbolizer_events *events,
			   uint64_t memory, struct error *err);

/* A descriptor that polls readable when symbolizer_poll() has something to do. */
int symbolizer_fd(const struct symbolizer *s);

/*
 * Make an object known. fd is owned by the symbolizer from now on, also on
 * failure; it is kept to hand it to the next worker, within a bounded number
 * of open descriptors: beyond it the least recently used are closed, those
 * whose symbols were read first. They are bad after a restart; one whose
 * symbols were not read may be bad before.
 */
int symbolizer_add(struct symbolizer *s, uint64_t object, enum object_kind kind, int fd);

/*
 * The same of a file whose reader may hang, since a program or another machine answers for its
 * file system: it is read by a worker of its own, which is started for the first of them.
 */
int symbolizer_add_suspicious(struct symbolizer *s, uint64_t object, enum object_kind kind, int fd);
bool symbolizer_is_suspicious(const struct symbolizer *s, uint64_t object);

/*
 * The user for whose sake an object is read; until this is called, root. Users take turns: whose
 * requests have taken least of the worker's time goes next, and one over whose object a worker has
 * hung has no turn for two seconds, or twice as long each time.
 */
void symbolizer_set_owner(struct symbolizer *s, uint64_t object, uint32_t uid);

/*
 * The memory of a process with an interpreter of that layout, whose PyCode_Type is at code_type.
 * As symbolizer_add() otherwise. What was asked of a code object once is remembered, also when the
 * process has ended.
 */
int symbolizer_add_python(struct symbolizer *s, uint64_t object, int fd,
			  const struct python_layout *layout, uint64_t code_type);

/*
 * Have an ELF object looked at for an interpreter. Goes before names that wait, as
 * symbolizer_unwind() does. Answered once by the event python, unless the object is forgotten
 * before. -ENOENT: no such ELF object; -ENOMEM.
 */
int symbolizer_inspect(struct symbolizer *s, uint64_t object);

/*
 * Have the symbols of an object read, and be told its facts. Asking for a name reads them too, but
 * tells nothing. -ENOENT: no such object.
 */
int symbolizer_read(struct symbolizer *s, uint64_t object);

/*
 * A separate debug file for an ELF object. The worker checks that it belongs
 * to it (build-id or CRC) and ignores it otherwise. fd is owned as above.
 */
int symbolizer_add_debug(struct symbolizer *s, uint64_t object, int fd);

/* Of sources: what dwz took out of the file's, or its debug file's, debugging information. */
int symbolizer_add_common(struct symbolizer *s, uint64_t object, int fd);

/*
 * Of sources: have an object's debugging information looked at. Answered by the event sources,
 * as symbolizer_add_debug() and symbolizer_add_common() are. -ENOENT: no such object; -ENOMEM.
 */
int symbolizer_sources(struct symbolizer *s, uint64_t object);

/* Another descriptor of an object's file, for the caller; a negative errno if it is not open. */
int symbolizer_dup(const struct symbolizer *s, uint64_t object);

/*
 * Whether an object's file is open and has the size and time of change that it had when it was
 * added. Not for files of the helper aside: their file system may not answer.
 */
bool symbolizer_is_unchanged(const struct symbolizer *s, uint64_t object);

/* Have a perf map or the kernel read again: it has grown. fd as above, or -1 to reuse the old. */
int symbolizer_refresh(struct symbolizer *s, uint64_t object, int fd);

/*
 * A kernel symbol that appeared after kallsyms was read (PERF_RECORD_KSYMBOL).
 * It wins over older ones at the same addresses.
 */
int symbolizer_add_kernel_symbol(struct symbolizer *s, uint64_t object, uint64_t address,
				 uint64_t size, const char *name);

/* Nobody will ask for it again: free what is held for it. */
void symbolizer_forget(struct symbolizer *s, uint64_t object);

/* Ask for a name. Gathered until symbolizer_flush() or until there are many; sent by
 * symbolizer_poll(), for which symbolizer_fd() then becomes readable. -ENOENT: no such object;
 * -ENOBUFS: 4 Mi addresses are unanswered. */
int symbolizer_ask(struct symbolizer *s, uint64_t object, uint64_t address);
/*
 * The same of a code object: place is PYTHON_PLACE() of python_layout.h, repeated in the answer.
 * Goes before all else, since its process may end.
 */
int symbolizer_ask_python(struct symbolizer *s, uint64_t object, uint64_t address, uint64_t place);
int symbolizer_flush(struct symbolizer *s);
/* The same for what goes with its process, and may be there no more: Python's and a JIT's code. */
int symbolizer_flush_brief(struct symbolizer *s);
/* Addresses that wait for symbolizer_flush(). */
uint64_t symbolizer_gathered(const struct symbolizer *s);

/*
 * Keep unwind tables in that directory (table_cache.h), which must be on a local disk: it is
 * read and written out of symbolizer_poll(). A negative errno says why there is no cache;
 * everything works without.
 */
int symbolizer_use_cache(struct symbolizer *s, const char *directory);

/*
 * Ask for the unwind table of an ELF object; its symbols are not read for that. Goes before names
 * that wait. Answered once by the event table, unless the object is forgotten before; asking again
 * while that is outstanding adds nothing. The status is 0 and t is valid during the callback, or
 *   -ENOENT   there is nothing to make a table of
 *   -EBADMSG  no ELF file, or a hostile one
 *   -E2BIG    the table would be larger than UNWIND_TABLE_MAX
 *   -ESTALE   the file was changed after it had been added
 *   -EIO      workers died over the object, or its file is not open any more
 *   -ENOMEM
 * Returns 0; -ENOENT: no such ELF object; -ENOMEM.
 */
int symbolizer_unwind(struct symbolizer *s, uint64_t object);

/*
 * Ask for some pages of the unwind table of an ELF object, at most 512. Answered once by the event
 * pages, unless the object is forgotten before; nothing of it is kept on disk. The status is as
 * above, -ENOENT or -EBADMSG also where only the table as a whole can be made
 * (unwind_pages_make()). urgent: before all that is not. Returns 0; -ENOENT: no such ELF object;
 * -EINVAL; -ENOMEM.
 */
int symbolizer_pages(struct symbolizer *s, uint64_t object, const struct unwind_question *q,
		     bool urgent);

/*
 * Send what waits, read the answers that are there and call the events (which
 * may call every function here but this one and symbolizer_free()); restart a
 * dead or stuck worker. Never blocks. Call it when symbolizer_fd() is readable,
 * and once a second while something is pending, for the time limit of a stuck
 * worker. now: ns of any steady clock. An error says that no worker could be
 * started; the next calls try again.
 */
int symbolizer_poll(struct symbolizer *s, uint64_t now, struct error *err);

/* Addresses asked and not answered yet. */
uint64_t symbolizer_pending(const struct symbolizer *s);
/*
 * Forget the tables that wait for their turn: nobody will walk by them any more, and names, whose
 * turn comes after theirs, are wanted now. There is no answer to them.
 */
void symbolizer_drop_tables(struct symbolizer *s);
/* Unwind tables asked for and not answered yet. */
uint64_t symbolizer_tables_pending(const struct symbolizer *s);
/* Of those, the ones of which it is not known whether the cache has them. */
uint64_t symbolizer_keys_pending(const struct symbolizer *s);

const struct symbolizer_stats *symbolizer_stats(const struct symbolizer *s);

/* What the worker has cost so far, with those that were killed. Adds to *ret. */
void symbolizer_add_cost(struct symbolizer *s, struct helper_cost *ret);
/* pid of the worker, for tests; 0 while there is none. */
int symbolizer_worker_pid(const struct symbolizer *s);

#endif
