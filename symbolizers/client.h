/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client of the symbolizer's worker, in the privileged process. It starts the worker process,
 * which has no privileges, passes open files to it, requests names and unwind tables from it in
 * batches, and reads the replies without ever blocking. A worker that dies or hangs is killed and
 * replaced. The object of the request that the worker was processing is marked bad: at once if the
 * worker hung, else when three workers have died without a reply about the object in between.
 * Requests without a complete reply are sent to the next worker, and their objects before them.
 *
 * An object is something that has symbols: an ELF file, the kernel, a JIT's perf map, a Python
 * process. The caller chooses the object's number, and never uses a number twice.
 */
#ifndef SKEIN_SYMBOLIZERS_CLIENT_H
#define SKEIN_SYMBOLIZERS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct fork_server;
struct helper_cost;
struct hotspot_code_key;
struct hotspot_code_rows;
struct hotspot_file;
struct hotspot_objects;
struct hotspot_perf;
struct hotspot_thread;
struct hotspot_thread_layout;
struct jvm_thread_list;
struct jvm_facts;
struct probe_pattern;
struct probe_sites;
struct probe_wanted;
struct python_file;
struct python_layout;
struct unwind_page_list;
struct unwind_table;

enum object_kind {
	OBJECT_ELF = 1, /* addresses are file offsets; also used for the vDSO's image */
	OBJECT_KERNEL, /* fd of /proc/kallsyms; addresses are absolute */
	OBJECT_PERFMAP, /* fd of a perf-PID.map; addresses are those of the process */
	OBJECT_PYTHON, /* fd of /proc/PID/mem; addresses are those of code objects */
	/* fd of /proc/PID/mem of a JVM; addresses are the first words of frames, with their tags */
	OBJECT_JAVA,
};

enum symbol_flag {
	SYMBOL_FOUND = 1, /* start is set, and name if the object has a name for the function */
	/* threads begin in the function at the address (elf_find()); may be set without FOUND */
	SYMBOL_START = 2,
	SYMBOL_BAD_OBJECT = 4, /* the object is marked bad or could not be read */
	SYMBOL_FREED = 16, /* Python: the address now holds another code object, or none */
	SYMBOL_MANGLED = 8, /* name is not demangled, since demangling takes too much time */
};

/* The reply for one address. Texts are valid during the callback. */
struct symbol {
	const char *name; /* demangled; "" if there is none */
	const char *system_name; /* as linkers know it; "" if the same as name */
	uint64_t start; /* start of the function, in the address space of the request */
	uint64_t size; /* bytes; 0 unknown */
	unsigned int flags; /* enum symbol_flag */
	/* The members below are for OBJECT_PYTHON; else they are 0 and "". */
	uint64_t place; /* place of the request, see symbolizer_lookup_python() */
	const char *file; /* source file */
	uint32_t first_line; /* first line of the function */
	uint32_t line; /* line of the place; 0 unknown */
};

/* Facts about an object that the worker found when it read the object. */
struct object_facts {
	char build_id[2 * 64 + 1]; /* lowercase hex, "" none */
	char debuglink[256]; /* file name only, "" none */
	uint32_t debuglink_crc;
	bool wants_debug; /* there is no .symtab: a separate debug file would help */
	bool bad; /* unreadable, hostile, too large, or killed the worker */
	bool hidden; /* kallsyms shows all addresses as 0 to whoever opened it; bad is also set */
	uint64_t symbols; /* number of symbols */
	uint64_t bad_lines; /* perf map lines that could not be parsed */
};

/* Maximum number of functions at one address: inlined ones and the function that contains them. */
#define SOURCE_PLACES_MAX 64

/*
 * A function at an address, and the line in it that the address belongs to. Texts are valid during
 * the callback.
 */
struct source_place {
	const char *name; /* demangled; "" unknown */
	const char *system_name; /* "" if the same */
	const char *declared; /* source file in which it is defined; "" unknown */
	uint32_t declared_line; /* line of that definition; 0 unknown */
	const char *file; /* source file of line; "" unknown */
	uint32_t line; /* the running line, or that of the call to the previous place; 0 unknown */
};

/* The methods at an address of a Java frame. */
struct java_places {
	uint64_t address, place; /* of the request */
	const struct source_place *places; /* declared_line is not used */
	unsigned int count; /* 0: none are known */
	bool inferred; /* the innermost ones may be those of a near address */
	bool freed; /* the address has other code by now */
};

/* Facts about a file's debugging information that the worker found. */
struct source_facts {
	char build_id[2 * 64 + 1]; /* lowercase hex, "" none */
	char debuglink[256]; /* file name only, "" none */
	char common[512]; /* path of the file of dwz's common information; "" none */
	char common_id[2 * 64 + 1]; /* build-id of that file */
	int32_t status; /* 0, or a negative errno: why places cannot be found */
	uint32_t split; /* number of units whose information is in .dwo files */
	uint64_t needed; /* bytes of the debugging information when unpacked */
	bool wants_debug; /* a separate debug file would help */
	bool wants_common; /* the file of common would help */
};

/* A part of the list of a JVM's threads. */
struct jvm_thread_list {
	int status; /* 0, or a negative errno, for the reason: there are no threads */
	const char *reason;
	bool last; /* no more parts follow */
	const struct hotspot_thread_layout *layout; /* the same in all parts */
	const struct hotspot_thread *threads;
	unsigned int count;
};

struct symbolizer_events {
	/*
	 * The reply for one address of symbolizer_lookup() or symbolizer_lookup_python(). May be
	 * NULL.
	 */
	void (*symbol)(void *context, uint64_t object, uint64_t address, const struct symbol *s);
	/*
	 * Called when an object was read or was marked bad, with its facts. May be called more than
	 * once for one object. May be NULL.
	 */
	void (*facts)(void *context, uint64_t object, const struct object_facts *facts);
	/* The reply to symbolizer_request_table(), with its status. May be NULL. */
	void (*table)(void *context, uint64_t object, int status, const struct unwind_table *t);
	/*
	 * The reply to symbolizer_request_pages(), with its status. Leave this NULL in a symbolizer
	 * that is also used for other requests: the worker process is named skein-pages if it is
	 * set, and skein-names otherwise.
	 */
	void (*pages)(void *context, uint64_t object, int status, const struct unwind_table *t);
	/*
	 * The reply to symbolizer_inspect(). f is never NULL; its support is NONE after a failure.
	 * May be NULL.
	 */
	void (*python)(void *context, uint64_t object, const struct python_file *f);
	/*
	 * Called before python for a file that is a libjvm. May be NULL.
	 */
	void (*hotspot)(void *context, uint64_t object, const struct hotspot_file *f);
	/*
	 * The reply to symbolizer_request_jvm(): status is 0; -EAGAIN: ask again a little later; or
	 * another negative errno, for the reason, which is a text. May be NULL.
	 */
	void (*jvm)(void *context, uint64_t object, int status, const struct jvm_facts *f,
		    const char *reason);
	/*
	 * The reply for one address of symbolizer_lookup_java(): the methods that run there,
	 * innermost first; or one place that has the name of a class. May be NULL.
	 */
	void (*java)(void *context, uint64_t object, const struct java_places *p);
	/*
	 * The reply to symbolizer_request_java_code() with rows; there is none without. May be
	 * NULL.
	 */
	void (*java_code)(void *context, uint64_t object, const struct hotspot_code_key *key,
			  const struct hotspot_code_rows *rows);
	/*
	 * The reply to symbolizer_request_jvm_counters(): status is 0; -EAGAIN: the JVM has not
	 * made them yet; or another negative errno, for the reason, which is a text. May be NULL.
	 */
	void (*jvm_counters)(void *context, uint64_t object, int status,
			     const struct hotspot_perf *p, const char *reason);
	/* The reply to symbolizer_request_jvm_threads(), called once or more. May be NULL. */
	void (*jvm_threads)(void *context, uint64_t object, const struct jvm_thread_list *list);
	/*
	 * The reply to symbolizer_request_probes(): status is 0, or a negative errno, and s is NULL
	 * then. May be NULL.
	 */
	void (*probes)(void *context, uint64_t object, int status, const struct probe_sites *s);
	/*
	 * The reply to symbolizer_request_sources(). Also called, with a status other than 0, when
	 * places can no longer be found because a file takes too much memory, is not open any more,
	 * or made workers die or hang. May be NULL.
	 */
	void (*sources)(void *context, uint64_t object, const struct source_facts *f);
	/*
	 * The reply for one address of symbolizer_lookup() from a symbolizer of sources, innermost
	 * place first; count is 0 if none are known. May be NULL.
	 */
	void (*places)(void *context, uint64_t object, uint64_t address,
		       const struct source_place *p, unsigned int count);
	void *context;
	/* probes of the user, for symbolizer_request_probes(); they must outlive the symbolizer */
	const struct probe_pattern *patterns;
	unsigned int pattern_count; /* at most PROBE_PATTERNS_MAX */
	/*
	 * bytes of symbol tables that a worker keeps, and of names from the memory of processes;
	 * 0: 64 MiB
	 */
	uint64_t memory;
	/* forks the workers; started after patterns were set; NULL: the caller is forked */
	struct fork_server *forks;
};

struct symbolizer_stats {
	uint64_t requested; /* addresses requested */
	uint64_t replied;
	uint64_t restarts; /* number of times that the worker was replaced */
	uint64_t bad_objects;
	uint64_t mangled; /* names not demangled, since that takes too much time */
	uint64_t tables_made; /* replies with a table that the worker made */
	uint64_t tables_cached; /* replies with a table from the cache */
	uint64_t tables_failed; /* replies with a status other than 0 */
};

struct symbolizer;

/*
 * Start the worker, which runs under a user of its own if the caller may change users. A lost
 * worker is replaced by another fork, so the caller must stay single-threaded or have a fork
 * server, and wait for its own children by pid only. *events is copied. Return 0 or a negative
 * errno.
 */
int symbolizer_new(struct symbolizer **out, const struct symbolizer_events *events,
		   struct error *err);
void symbolizer_free(struct symbolizer *s);

/*
 * Like symbolizer_new(), for a symbolizer that only finds lines and inlined functions of ELF files
 * ("a symbolizer of sources"). It has a worker of its own, since debugging information is the
 * largest data that workers read, and the most likely to make a worker crash. memory: bytes that
 * the worker may use. The worker runs at a lower CPU priority than the other workers.
 */
int symbolizer_new_sources(struct symbolizer **out, const struct symbolizer_events *events,
			   uint64_t memory, struct error *err);

/* Return a descriptor that polls readable when symbolizer_poll() has something to do. */
int symbolizer_fd(const struct symbolizer *s);

/*
 * Add an object. The symbolizer owns fd from now on, also on failure. It keeps fd to pass it to
 * later workers, but it limits the number of open descriptors: above the limit, those of the least
 * recently used objects are closed, first those of objects whose symbols were read. After a
 * restart, objects without an open descriptor become bad; an object that was not sent to a worker
 * before its descriptor was closed is bad at the next request. Return 0; -EBADF: fd is negative;
 * -EEXIST; -EINVAL: use symbolizer_add_python() for OBJECT_PYTHON; -ENOMEM; an error of fstat(2).
 */
int symbolizer_add(struct symbolizer *s, uint64_t object, enum object_kind kind, int fd);

/*
 * Like symbolizer_add(), for a file whose reader may hang, since its file system depends on a
 * program or another machine. Such files are read by a second worker, which is started for the
 * first of them. Functions that do not support these files return as if there were no such object.
 */
int symbolizer_add_suspicious(struct symbolizer *s, uint64_t object, enum object_kind kind, int fd);

/*
 * Set the user on whose behalf an object is read; until this is called, root. Users take turns: the
 * user whose requests have taken the least of the worker's time is served next. A user whose object
 * made a worker hang is not served for two seconds, and twice as long each further time, up to 8.5
 * minutes.
 */
void symbolizer_set_owner(struct symbolizer *s, uint64_t object, uint32_t uid);

/*
 * Add the memory of a process that runs an interpreter with this layout, whose PyCode_Type is at
 * address code_type; see symbolizer_add() for fd and errors. The memory of processes is read by a
 * worker of its own, which is started for the first of them: names may be gone while another worker
 * reads a large file. It remembers what it has read of a code object, also after the process has
 * ended.
 */
int symbolizer_add_python(struct symbolizer *s, uint64_t object, int fd,
			  const struct python_layout *layout, uint64_t code_type);

/*
 * Add the memory of a process that runs a JVM, whose libjvm has these symbols in the process; see
 * symbolizer_add() for fd and errors. The worker remembers what it has read of methods, also after
 * the process has ended.
 */
int symbolizer_add_java(struct symbolizer *s, uint64_t object, int fd,
			const struct hotspot_objects *objects);

/*
 * Request the facts about a JVM that walkers need. One reply by the event jvm follows, unless the
 * object is forgotten before; further requests while one is pending have no effect. Return 0;
 * -ENOENT: no such OBJECT_JAVA; -ENOMEM.
 */
int symbolizer_request_jvm(struct symbolizer *s, uint64_t object);

/*
 * Request the rows (struct hotspot_code_rows) of a Java method's or an adapter's code around a
 * place: blob, its address; place: HOTSPOT_COMPILED_PLACE(). Return 0; -ENOENT: no such
 * OBJECT_JAVA; -ENOBUFS: too many of these requests are pending; -ENOMEM.
 */
int symbolizer_request_java_code(struct symbolizer *s, uint64_t object, uint64_t blob,
				 uint64_t place);

/*
 * Request the counters of a JVM, or the list of its threads. One reply by the event jvm_counters or
 * jvm_threads follows, unless the object is forgotten before; further requests while one is pending
 * have no effect. Return 0; -ENOENT: no such OBJECT_JAVA; -ENOMEM.
 */
int symbolizer_request_jvm_counters(struct symbolizer *s, uint64_t object);
int symbolizer_request_jvm_threads(struct symbolizer *s, uint64_t object);
/* Return the number of these requests without a reply yet. */
uint64_t symbolizer_jvm_pending(const struct symbolizer *s);

/*
 * Search an ELF object for a Python interpreter, or for HotSpot. The request takes precedence over
 * pending names and tables. One reply by the event python follows, unless the object is forgotten
 * before; further requests while one is pending have no effect. Return 0; -ENOENT: no such ELF
 * object, or it is a suspicious file; -ENOMEM.
 */
int symbolizer_inspect(struct symbolizer *s, uint64_t object);

/*
 * Search an ELF object for the sites of probes (probe_sites.h); w->patterns and count are those of
 * the symbolizer. One reply by the event probes follows, unless the object is forgotten before.
 * Return 0; -ENOENT: no such ELF object; -ENOMEM.
 */
int symbolizer_request_probes(struct symbolizer *s, uint64_t object, const struct probe_wanted *w);

/*
 * Read the symbols of an object and report its facts. (Requests for names read the symbols too, but
 * do not report facts.) Return 0; -ENOENT: no such object; -ENOMEM.
 */
int symbolizer_read(struct symbolizer *s, uint64_t object);

/*
 * Add a separate debug file for an ELF object, whose symbols are then read again: the event facts
 * or sources follows. The worker checks by build-id, or without one by CRC, that the debug file
 * belongs to the object and ignores it otherwise. The symbolizer owns fd from now on, also on
 * failure. Return 0; -ENOENT: no such ELF object, its file is not open any more, or fd is negative;
 * -ENOMEM.
 */
int symbolizer_add_debug(struct symbolizer *s, uint64_t object, int fd);

/*
 * For a symbolizer of sources: add the file into which dwz moved common debugging information of
 * the object or of its debug file. Ownership of fd, event and errors: symbolizer_add_debug().
 */
int symbolizer_add_common(struct symbolizer *s, uint64_t object, int fd);

/*
 * For a symbolizer of sources: examine an object's debugging information. The reply is the event
 * sources, also for symbolizer_add_debug() and symbolizer_add_common(). Return 0; -ENOENT: no such
 * object; -ENOMEM.
 */
int symbolizer_request_sources(struct symbolizer *s, uint64_t object);

/*
 * Duplicate the descriptor of an object's file, for the caller to own. Return a descriptor;
 * -ENOENT: no such object, or it is a suspicious file; -EBADF: the file is not open any more;
 * -EMFILE: all descriptors that are left are reserved (limits_first_spare()); or another negative
 * errno.
 */
int symbolizer_dup(const struct symbolizer *s, uint64_t object);

/*
 * Return whether an object's file is open and still has the size and the modification time that it
 * had when it was added. The result is false for suspicious files, which are not checked, since
 * their file system may block.
 */
bool symbolizer_is_unchanged(const struct symbolizer *s, uint64_t object);

/*
 * Read a perf map or the kernel's symbols again after they have grown; the event facts follows. fd:
 * a descriptor, which the symbolizer owns from now on, also on failure, or -1 to reuse the old one.
 * Return 0; -ENOENT: no such object, an ELF object, or no descriptor; -ENOMEM.
 */
int symbolizer_refresh(struct symbolizer *s, uint64_t object, int fd);

/*
 * Add a kernel symbol that appeared after kallsyms was read (PERF_RECORD_KSYMBOL). The symbol hides
 * older ones at the same addresses. Return 0; -ENOENT: the object is not the kernel; -E2BIG: 64 Ki
 * symbols were added; -ENOMEM.
 */
int symbolizer_add_kernel_symbol(struct symbolizer *s, uint64_t object, uint64_t address,
				 uint64_t size, const char *name);

/*
 * Free an object when its pending requests are complete. From now on the object does not exist for
 * any other function.
 */
void symbolizer_forget(struct symbolizer *s, uint64_t object);

/*
 * Request the name of one address. Requests are gathered until symbolizer_flush() or until there
 * are 512 of one object, and sent by symbolizer_poll(), for which symbolizer_fd() then becomes
 * readable. Return 0; -ENOENT: no such object; -ENOBUFS: 4 Mi addresses are pending; -ENOMEM.
 */
int symbolizer_lookup(struct symbolizer *s, uint64_t object, uint64_t address);
/*
 * Like symbolizer_lookup(), for a code object: place is PYTHON_PLACE() of python_layout.h, repeated
 * in the reply. Once flushed, the request takes precedence over other requests of its user except
 * urgent pages, since the process may end.
 */
int symbolizer_lookup_python(struct symbolizer *s, uint64_t object, uint64_t address,
			     uint64_t place);
/*
 * The same for a Java frame: its two words. Under WIRE_TAG_JAVA_CLASS, the words are of a class.
 * The reply is the event java.
 */
int symbolizer_lookup_java(struct symbolizer *s, uint64_t object, uint64_t address, uint64_t place);
/* Queue all gathered requests for sending. Return 0. */
int symbolizer_flush(struct symbolizer *s);
/*
 * Like symbolizer_flush(), but only for names that may vanish with their process: those of
 * Python's, Java's and a JIT's code.
 */
int symbolizer_flush_transient(struct symbolizer *s);
/* Return the number of addresses that wait for symbolizer_flush(). */
uint64_t symbolizer_gathered(const struct symbolizer *s);

/*
 * Keep unwind tables in this directory (unwind/table_cache.h), which must be on a local disk, since
 * symbolizer_poll() reads and writes it. Call this once, and before symbolizer_add_suspicious().
 * Return 0, or a negative errno, after which tables are not cached.
 */
int symbolizer_use_cache(struct symbolizer *s, const char *directory);

/*
 * Request the unwind table of an ELF object, or of the code that a JVM makes once, without reading
 * its symbols. With a cache, the table's key is requested first, which takes precedence over
 * pending names; a table that the worker has to make comes after names that were requested before
 * it. One reply by the event table follows, unless the object is forgotten before; further requests
 * while one is pending have no effect. If the reply's status is 0, t is valid during the callback.
 * Other values of the status:
 *
 *   -ENOENT   the object has no data from which a table can be made
 *   -EBADMSG  the file is not an ELF file, or is invalid; or the table is, when checked
 *   -E2BIG    the table would be larger than UNWIND_TABLE_MAX
 *   -ESTALE   the file was changed after it had been added
 *   -EIO      a worker hung or several died over the object, or its file is not open any more
 *   -ENOMEM
 *
 * Return 0; -ENOENT: no such ELF object; -ENOMEM.
 */
int symbolizer_request_table(struct symbolizer *s, uint64_t object);

/*
 * Request some pages of the unwind table of an ELF object. One reply by the event pages follows,
 * unless the object is forgotten before; the pages are not cached on disk. The status is that of
 * symbolizer_request_table(), with -ENOENT or -EBADMSG also if only the whole table can be made
 * (unwind_pages_make()). urgent: the request takes precedence over those of its user that are not
 * urgent. Return 0; -ENOENT: no such ELF object, or it is a suspicious file; -EINVAL: no pages, or
 * more than 512; -ENOMEM.
 */
int symbolizer_request_pages(struct symbolizer *s, uint64_t object,
			     const struct unwind_page_list *q, bool urgent);

/*
 * Send waiting requests, read the replies that have arrived and call the events (which may call
 * every function here but this one and symbolizer_free()); replace a dead or stuck worker. Never
 * blocks on the worker. Call this when symbolizer_fd() is readable, and once a second while
 * requests are pending, since this checks the time limit of a stuck worker. now: ns of any steady
 * clock. Return 0, or a negative errno if no worker could be started; the next calls try again.
 */
int symbolizer_poll(struct symbolizer *s, uint64_t now, struct error *err);

/* Return the number of addresses whose replies are pending. */
uint64_t symbolizer_pending(const struct symbolizer *s);
/*
 * Drop the requests for unwind tables that were not sent to the worker yet, without a reply. This
 * is for the end of a recording, when nothing will be unwound any more: otherwise names would wait
 * for tables that were requested before them.
 */
void symbolizer_drop_tables(struct symbolizer *s);
/* Return the number of pending unwind tables, those of suspicious files not counted. */
uint64_t symbolizer_tables_pending(const struct symbolizer *s);
/*
 * Return the number of pending unwind tables for which the cache has not been searched yet, those
 * of suspicious files not counted.
 */
uint64_t symbolizer_keys_pending(const struct symbolizer *s);

/* Return whether files are being searched for interpreters and HotSpot (symbolizer_inspect()). */
bool symbolizer_inspecting(const struct symbolizer *s);

/* Return the totals so far of all workers; they belong to the symbolizer. */
const struct symbolizer_stats *symbolizer_stats(struct symbolizer *s);

/* Add the cost of the workers so far to *out, including workers that were killed. */
void symbolizer_add_cost(struct symbolizer *s, struct helper_cost *out);
/* Return the pid of the worker (not of others), for tests; 0 while there is none. */
int symbolizer_worker_pid(const struct symbolizer *s);

/* The most workers of one symbolizer. */
#define SYMBOLIZER_WORKERS_MAX 3
/* Write the pids of the workers that run to out; return their number. */
unsigned int symbolizer_pids(struct symbolizer *s, pid_t out[static SYMBOLIZER_WORKERS_MAX]);
/*
 * Replace the worker with that pid, for its memory. No object is blamed for that; names of code
 * that only the worker had are lost. Return whether there is such a worker.
 */
bool symbolizer_replace_worker(struct symbolizer *s, pid_t pid);
/*
 * Let the worker with that pid, and those that replace it, keep so many bytes (as
 * symbolizer_events.memory): it forgets what is more, and returns free memory to the system. Return
 * whether there is such a worker.
 */
bool symbolizer_limit_worker(struct symbolizer *s, pid_t pid, uint64_t bytes);

#endif
