/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small recording of Python programs, as a source: evaluation loops that run one frame, several,
 * or no known frame, native frames between them, C extensions, functions of equal names, and
 * hostile names. It has the machine and clock of sample_scene.h.
 */
#ifndef SKEIN_TESTS_PYTHON_SCENE_H
#define SKEIN_TESTS_PYTHON_SCENE_H

#include "sample_scene.h"

#define X8 "xxxxxxxx"
#define X64 X8 X8 X8 X8 X8 X8 X8 X8
#define X512 X64 X64 X64 X64 X64 X64 X64 X64

static const struct info python_infos[] = {
	{1, 1, "python.1", "Python 3.11.2, /usr/lib/libpython3.11.so.1.0: Python frames are read"},
	{2, 1, "python.7",
	 "Python 3.7.16, /opt/\x1b[31mred/python3.7: Python before 3.8: native "
	 "frames only"},
	{3, 1, "python.8",
	 "Python 3.15.0, /opt/" X64 X64 "/libpython3.15.so.1.0: unknown Python: "
	 "native frames only"},
};
static const struct process python_processes[] = {
	{1, 1, 200, 200, 1, 5, 5, 0, "web", "/usr/bin/python3.11", "/", "", 0, ""},
	{2, 1, 201, 201, 200, 6, 6, 0, "web", "/usr/bin/python3.11", "/", "", 0, ""}, /* forked */
	{3, 1, 300, 300, 1, 7, 7, 0, "job", "/usr/bin/python3.11", "/", "", 0, ""},
};
static const struct thread python_threads[] = {
	{1, 1, 200, 5, 0, "web", 0, 0, ""},
	{2, 1, 210, 5, 0, "pool", 0, 0, ""},
	{3, 2, 201, 6, 0, "web", 0, 0, ""},
	{4, 3, 300, 7, 0, "job", 0, 0, ""},
};
static const struct mapping python_mappings[] = {
	{1, 1, MAPPING_FILE, 0, 100000, "/usr/lib/libpython3.11.so.1.0", "aabb"},
	{2, 1, MAPPING_PYTHON, 1, 0, "[python3.11:200]", ""},
	{3, 1, MAPPING_PYTHON, 2, 0, "[python3.11:201]", ""},
	{4, 1, MAPPING_FILE, 0, 9000, "/usr/lib/python3.11/lib-dynload/_json.so", "ccdd"},
	{5, 1, MAPPING_FILE, 0, 6000, "/usr/bin/python3.11", "eeff"},
	{6, 1, MAPPING_FILE, 0, 6000, "/usr/lib/libother.so", ""},
};
static const struct function python_functions[] = {
	{1, 5, "_start", "", "", 0, 0},
	{2, 5, "main", "", "", 0, 0},
	{3, 1, "_PyEval_EvalFrameDefault", "", "", 0, 0},
	{4, 1, "_PyEval_Vector.lto_priv.0", "", "", 0, 0},
	{5, 1, "_PyFunction_Vectorcall", "", "", 0, 0},
	{6, 1, "list_sort_impl", "", "", 0, 0},
	{7, 1, "PyEval_EvalCode", "", "", 0, 0},
	{8, 1, "gen_iternext", "", "", 0, 0},
	{9, 4, "scanner_call", "", "", 0, 0},
	{10, 6, "_PyFunction_Vectorcall", "", "", 0, 0}, /* not part of the interpreter */
	{11, 2, "<module>", "", "/srv/app/main.py", 1, 0},
	{12, 2, "Handler.get", "", "/srv/app/main.py", 10, 0},
	{13, 3, "Handler.get", "", "/srv/app/main.py", 10, 0}, /* of the forked process */
	{14, 2, "helper", "", "/srv/app/a/util.py", 5, 0},
	{15, 2, "helper", "", "/srv/app/b/util.py", 5, 0},
	{16, 2, "evil;\n\x1b[31m\xe2\x80\xae 9 12", "", "/tmp/x/a;b\r\xff 7", 7, 0},
	{17, 2, "_find_and_load", "", "<frozen importlib._bootstrap>", 1165, 0},
	{18, 2, "<lambda>", "", "<string>", 0, 0},
	{19, 2, X512 "\xc3\xa9", "", "/srv/" X512 ".py", 4294967295, 0},
	{20, 2, "nameless", "", "", 3, 0},
};

#define PYTHON_LOOP (FRAME_FLAG_LOOKED_UP | FRAME_FLAG_INTERPRETER)
static const struct frame python_frames[] = {
	{1, FRAME_NATIVE, 5, 0x1000, 1, 0, FRAME_FLAG_START | FRAME_FLAG_LOOKED_UP},
	{2, FRAME_NATIVE, 5, 0x1100, 2, 0, FRAME_FLAG_LOOKED_UP},
	{3, FRAME_NATIVE, 1, 0x5000, 3, 0, PYTHON_LOOP},
	{4, FRAME_NATIVE, 1, 0x6000, 4, 0, FRAME_FLAG_LOOKED_UP},
	{5, FRAME_NATIVE, 1, 0x6100, 5, 0, FRAME_FLAG_LOOKED_UP},
	{6, FRAME_NATIVE, 1, 0x6200, 6, 0, FRAME_FLAG_LOOKED_UP},
	{7, FRAME_NATIVE, 1, 0x6300, 7, 0, FRAME_FLAG_LOOKED_UP},
	{8, FRAME_NATIVE, 1, 0x6400, 8, 0, FRAME_FLAG_LOOKED_UP},
	{9, FRAME_NATIVE, 1, 0x5800, 3, 0, PYTHON_LOOP},
	{10, FRAME_NATIVE, 1, 0x7777, 0, 0, FRAME_FLAG_LOOKED_UP}, /* has no name */
	{11, FRAME_NATIVE, 4, 0x300, 9, 0, FRAME_FLAG_LOOKED_UP},
	{12, FRAME_NATIVE, 6, 0x400, 10, 0, FRAME_FLAG_LOOKED_UP},
	{20, FRAME_PYTHON, 2, 0x7f0000000010, 11, 3, FRAME_FLAG_LOOKED_UP},
	{21, FRAME_PYTHON, 2, 0x7f0000000010, 11, 40, FRAME_FLAG_LOOKED_UP},
	{22, FRAME_PYTHON, 2, 0x7f0000000110, 12, 12, FRAME_FLAG_LOOKED_UP},
	{23, FRAME_PYTHON, 2, 0x7f0000000110, 12, 14, FRAME_FLAG_LOOKED_UP},
	{24, FRAME_PYTHON, 2, 0x7f0000000210, 14, 6, FRAME_FLAG_LOOKED_UP},
	{25, FRAME_PYTHON, 2, 0x7f0000000310, 15, 6, FRAME_FLAG_LOOKED_UP},
	{26, FRAME_PYTHON, 3, 0x7e0000000110, 13, 12, FRAME_FLAG_LOOKED_UP},
	{27, FRAME_PYTHON, 2, 0x7f0000000410, 16, 8, FRAME_FLAG_LOOKED_UP},
	{28, FRAME_PYTHON, 2, 0x7f0000000510, 17, 1170, FRAME_FLAG_LOOKED_UP},
	{29, FRAME_PYTHON, 2, 0x7f0000000610, 0, 0, FRAME_FLAG_LOOKED_UP}, /* could not be read */
	{30, FRAME_PYTHON, 2, 0x7f0000000710, 18, 0, FRAME_FLAG_LOOKED_UP},
	{31, FRAME_PYTHON, 2, 0x7f0000000810, 19, 4294967295, FRAME_FLAG_LOOKED_UP},
	{32, FRAME_PYTHON, 2, 0x7f0000000910, 20, 4, FRAME_FLAG_LOOKED_UP},
	{33, FRAME_END, 0, END_PYTHON, 0, 0, 0},
};

/* Each stack is followed by its frames as outputs show them by default. */
static const struct stack python_stacks[] = {
	{1, 0, 1}, /* _start */
	{2, 1, 2}, /* _start main */
	{3, 2, 7}, /* _start main EvalCode */
	{4, 3, 4}, /* _start main EvalCode Vector */
	{5, 4, 3}, /* _start main EvalCode Vector loop: no Python frame is known */
	{6, 5, 20}, /* _start main <module> */
	{7, 6, 22}, /* _start main <module> get: both are run by one loop */
	{8, 7, 5}, /* ... get Vectorcall: has not called a loop yet */
	{9, 8, 4},    {10, 9, 9},   {11, 10, 24}, /* ... get helper (a) */
	{12, 7, 6}, /* ... get list_sort_impl */
	{13, 12, 5},  {14, 13, 4},  {15, 14, 3},
	{16, 15, 30}, /* ... get list_sort_impl <lambda> */
	{17, 5, 21}, /* _start main <module>, at another line */
	{18, 17, 23}, /* ... <module> get, at another line */
	{19, 18, 11}, /* ... get scanner_call */
	{20, 19, 12}, /* ... scanner_call Vectorcall, of another library */
	{21, 20, 3},  {22, 21, 25}, /* ... scanner_call Vectorcall helper (b) */
	{23, 8, 10}, /* ... get Vectorcall [no name] */
	{24, 23, 3},  {25, 24, 27}, /* ... get evil: an unnamed function called a loop */
	{26, 5, 11}, /* ... EvalCode Vector loop scanner_call: no Python frame replaces the loop */
	{27, 7, 8}, /* ... get gen_iternext */
	{28, 27, 9},  {29, 28, 28}, /* ... get _find_and_load */
	{30, 29, 29}, /* ... get _find_and_load [unknown] */
	{31, 6, 31}, /* ... <module> huge */
	{32, 31, 32}, /* ... <module> huge nameless */
	{33, 5, 26}, /* _start main get: in the other process */
	{34, 0, 33}, /* END Python frames unreadable */
	{35, 34, 3},  {36, 35, 22}, /* END, get */
};

#define IN_PYTHON SAMPLE_FLAG_PYTHON
#define WITH_GIL (SAMPLE_FLAG_PYTHON | SAMPLE_FLAG_GIL)
/* The samples in order, 100 in all. */
static const struct scene_run python_runs[] = {
	{20, 1, 7, 0, WITH_GIL},
	{10, 1, 11, 0, WITH_GIL},
	{5, 1, 11, 0, WITH_GIL | SAMPLE_FLAG_COLLECTING},
	{5, 1, 12, 0, WITH_GIL},
	{5, 1, 16, 0, WITH_GIL},
	{5, 1, 18, 1, WITH_GIL},
	{10, 2, 19, 1, IN_PYTHON},
	{4, 2, 22, 1, WITH_GIL | SAMPLE_FLAG_LATE},
	{3, 1, 25, 0, WITH_GIL},
	{2, 1, 5, 0, WITH_GIL},
	{3, 1, 26, 0, WITH_GIL},
	{2, 1, 27, 0, WITH_GIL},
	{4, 1, 29, 0, WITH_GIL},
	{2, 1, 30, 0, WITH_GIL},
	{2, 1, 31, 0, WITH_GIL},
	{1, 1, 32, 0, WITH_GIL},
	{9, 3, 33, 2, WITH_GIL},
	{1, 3, 36, 2, WITH_GIL},
	{1, 1, 8, 0, WITH_GIL},
	{2, 4, 5, 3, SAMPLE_FLAG_UNREAD},
	{4, 4, 2, 3, 0},
};

static inline void python_build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, HOST, scene_hosts);
	SCENE_PUT_ALL(s, INFO, python_infos);
	SCENE_PUT_ALL(s, EVENT, scene_events);
	SCENE_PUT_ALL(s, PROCESS, python_processes);
	SCENE_PUT_ALL(s, THREAD, python_threads);
	SCENE_PUT_ALL(s, MAPPING, python_mappings);
	SCENE_PUT_ALL(s, FUNCTION, python_functions);
	SCENE_PUT_ALL(s, FRAME, python_frames);
	SCENE_PUT_ALL(s, STACK, python_stacks);
	scene_runs_and_sums(s, python_runs, SCENE_COUNT(python_runs));
}

DEFINE_SCENE(python_scene_source, python_build)

#endif
