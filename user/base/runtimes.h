/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language runtimes that skein recognises by the names of their files, and what gives names to
 * functions of those whose own frames it does not read: reports, pages, top and doctor show it.
 */
#ifndef SKEIN_BASE_RUNTIMES_H
#define SKEIN_BASE_RUNTIMES_H

#include <stdbool.h>

/*
 * Whether the code that a runtime generates keeps frame pointers, without which a walk may skip
 * frames. WITH_NAMES: only with the setting that gives names.
 */
enum frame_pointers { POINTERS_NEVER, POINTERS_WITH_NAMES, POINTERS_ALWAYS };

/*
 * X(NAME, "name", frame pointers of its generated code, whether it also interprets functions, which
 * then have no native frames, "how functions get names"). Python is read and needs nothing; HotSpot
 * is read, except for releases and builds that lack what is needed.
 */
#define RUNTIMES(X) \
	X(PYTHON, "Python", POINTERS_ALWAYS, false, "") \
	X(NODE, "Node.js", POINTERS_ALWAYS, false, "'node --perf-basic-prof' gives them") \
	X(JAVA, "Java", POINTERS_NEVER, false, \
	  "'jcmd PID Compiler.perfmap' (JDK 17 or newer) gives them") \
	X(DOTNET, ".NET", POINTERS_ALWAYS, false, "DOTNET_PerfMapEnabled=1 gives them") \
	X(ERLANG, "Erlang", POINTERS_WITH_NAMES, false, "'erl +JPperf true' gives them") \
	X(RUBY, "Ruby", POINTERS_WITH_NAMES, true, "'ruby --yjit-perf' gives them") \
	X(PHP, "PHP", POINTERS_NEVER, true, "'php -d opcache.jit_debug=16' gives them") \
	X(PYPY, "PyPy", POINTERS_NEVER, true, "PyPy has no perf map, vmprof has them")

#define RUNTIME_ENUM(NAME, ...) RUNTIME_##NAME,
enum runtime_kind { RUNTIMES(RUNTIME_ENUM) RUNTIME_COUNT };
#undef RUNTIME_ENUM

struct runtime {
	const char *name;
	enum frame_pointers pointers;
	bool interprets;
	const char *names; /* how its functions get names; "": it is read */
	const char *unread; /* the same as a sentence of its own */
};

extern const struct runtime runtime_table[RUNTIME_COUNT];

/* Return which runtime has an executable or library of this path; RUNTIME_COUNT: none. */
enum runtime_kind runtime_of_file(const char *path);

#endif
