// SPDX-License-Identifier: Apache-2.0
/*
 * Remove interpreters from stacks. An evaluation loop is a native function in a stack, and the
 * Python frames that it runs follow. These frames fully describe the work of the loop, so each
 * Python frame is joined to the caller of the loop. Other children keep the loop as their parent,
 * and so do samples in a loop without known Python frames: no frame is hidden that no other frame
 * replaces.
 *
 * A sample in the loop itself is self time of the Python frame that the loop runs, because that
 * frame comes after the loop's in the stack and so is the innermost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/python.h"
#include "base/large.h"

/*
 * Functions that do nothing but enter a loop, or pass a call on to such a function: between a call
 * in Python and the loop of its callee, they are part of the interpreter like the loop. Functions
 * that Python code calls by name (list.sort, generator.send), slots of types, and everything in C
 * extensions are not listed.
 */
#define TRAMPOLINES(X) \
	/* enter the loop */ \
	X(PyEval_EvalCode) X(PyEval_EvalCodeEx) X(PyEval_EvalFrame) X(PyEval_EvalFrameEx) \
	X(_PyEval_EvalCode) X(_PyEval_EvalCodeWithName) X(_PyEval_EvalFrame) X(_PyEval_Vector) \
	X(function_code_fastcall) \
	/* step of a generator or coroutine */ \
	X(PyGen_am_send) X(PyIter_Send) X(gen_iternext) X(gen_send_ex) X(gen_send_ex2) \
	/* pass a call on */ \
	X(PyObject_Call) X(PyObject_CallFunction) X(PyObject_CallFunctionObjArgs) \
	X(PyObject_CallMethod) X(PyObject_CallMethodObjArgs) X(PyObject_CallNoArgs) \
	X(PyObject_CallObject) X(PyObject_CallOneArg) X(PyObject_Vectorcall) \
	X(PyObject_VectorcallDict) X(PyObject_VectorcallMethod) X(PyVectorcall_Call) \
	X(_PyFunction_FastCallDict) X(_PyFunction_Vectorcall) X(_PyObject_Call) \
	X(_PyObject_CallFunctionVa) X(_PyObject_CallMethodId) X(_PyObject_CallMethodIdObjArgs) \
	X(_PyObject_CallNoArgsTstate) X(_PyObject_Call_Prepend) X(_PyObject_FastCallDict) \
	X(_PyObject_FastCallDictTstate) X(_PyObject_FastCall_Prepend) X(_PyObject_MakeTpCall) \
	X(_PyObject_Vectorcall) X(_PyObject_VectorcallDictTstate) X(_PyObject_VectorcallPrepend) \
	X(_PyObject_VectorcallTstate) X(_PyVectorcall_Call) \
	X(call_function) X(do_call_core) X(method_vectorcall) X(object_vacall) \
	X(vectorcall_method)

/* Compilers name parts and copies of a function with a suffix: f.cold, f.constprop.0. */
bool python_is_trampoline(const char *name)
{
	static const char *const names[] = {
#define TRAMPOLINE_NAME(name) #name,
		TRAMPOLINES(TRAMPOLINE_NAME)
#undef TRAMPOLINE_NAME
	};
	size_t size = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i][0] == *name && !strncmp(names[i], name, size) && !names[i][size])
			return true;
	return false;
}

/* The role of a frame in an interpreter. */
enum python_role { ROLE_NONE, ROLE_LOOP, ROLE_TRAMPOLINE, ROLE_NAMELESS, ROLE_PYTHON };

struct python_folding {
	struct profile *profile;
	uint8_t *roles; /* by index of frame */
	/* by index of stack, for trampolines: caller of the outermost of adjacent trampolines */
	uint32_t *callers;
};

/* Compare the name of each function once, because there are many more frames than functions. */
static uint8_t *find_trampolines(const struct profile *p)
{
	uint8_t *found = calloc((size_t)p->count.functions + 1, sizeof(*found));

	for (uint32_t i = 0; i < p->count.functions && found; i++)
		found[i] = python_is_trampoline(p->functions[i].f.name);
	return found;
}

static enum python_role python_role_of(const struct profile *p, const uint8_t *trampolines,
				       const struct profile_frame *f)
{
	if (f->f.kind == FRAME_PYTHON)
		return ROLE_PYTHON;
	if (f->f.kind != FRAME_NATIVE || f->mapping == PROFILE_NONE)
		return ROLE_NONE;
	if (f->f.flags & FRAME_FLAG_INTERPRETER)
		return ROLE_LOOP;
	if (f->function == PROFILE_NONE || !*p->functions[f->function].f.name)
		return ROLE_NAMELESS;
	return trampolines[f->function] ? ROLE_TRAMPOLINE : ROLE_NONE;
}

static enum python_role python_role_at(const struct python_folding *f, uint32_t stack)
{
	uint32_t frame = stack == PROFILE_NONE ? PROFILE_NONE : f->profile->stacks[stack].frame;

	return frame == PROFILE_NONE ? ROLE_NONE : f->roles[frame];
}

/* Return whether the frames of two stacks, which both have a module, are in one file. */
static bool same_module(const struct python_folding *f, uint32_t a, uint32_t b)
{
	const struct profile *p = f->profile;
	uint32_t x = p->frames[p->stacks[a].frame].mapping;
	uint32_t y = p->frames[p->stacks[b].frame].mapping;

	return x == y ||
	       (*p->mappings[x].m.path && !strcmp(p->mappings[x].m.path, p->mappings[y].m.path));
}

/*
 * Store the caller of a trampoline, skipping trampolines above it. Parents precede their children,
 * so that the caller of the parent is already known and one step is sufficient.
 */
static void find_trampoline_caller(struct python_folding *f, uint32_t trampoline)
{
	uint32_t parent = f->profile->stacks[trampoline].parent;

	f->callers[trampoline] = parent;
	if (python_role_at(f, parent) == ROLE_TRAMPOLINE && same_module(f, trampoline, parent))
		f->callers[trampoline] = f->callers[parent];
}

/*
 * Return the caller of a loop, skipping trampolines between the caller and the loop. In a stripped
 * interpreter, trampolines have no names; but the direct caller of a loop, if it is in the same
 * file, can only be a trampoline.
 */
static uint32_t caller_of_loop(const struct python_folding *f, uint32_t loop)
{
	uint32_t at = f->profile->stacks[loop].parent;

	if (python_role_at(f, at) == ROLE_NAMELESS && same_module(f, at, loop))
		at = f->profile->stacks[at].parent;
	return python_role_at(f, at) == ROLE_TRAMPOLINE && same_module(f, at, loop) ? f->callers[at]
										    : at;
}

/*
 * Join each Python frame to the caller of its loop. Only Python frames get new parents, and no
 * Python frame lies between adjacent trampolines, so callers found earlier stay right.
 */
static void join_python_frames(struct python_folding *f)
{
	struct profile_stack *stacks = f->profile->stacks;

	for (uint32_t i = 0; i < f->profile->count.stacks; i++) {
		enum python_role role = python_role_at(f, i);

		if (role == ROLE_TRAMPOLINE)
			find_trampoline_caller(f, i);
		else if (role == ROLE_PYTHON && python_role_at(f, stacks[i].parent) == ROLE_LOOP)
			stacks[i].parent = caller_of_loop(f, stacks[i].parent);
	}
}

static bool has_interpreter_loops(const struct profile *p)
{
	for (uint32_t i = 0; i < p->count.frames; i++)
		if (p->frames[i].f.flags & FRAME_FLAG_INTERPRETER)
			return true;
	return false;
}

int python_fold(struct profile *p)
{
	struct python_folding f = {.profile = p};
	uint8_t *trampolines;
	int ret = 0;

	if (!has_interpreter_loops(p))
		return 0;
	trampolines = find_trampolines(p);
	f.roles = calloc(p->count.frames + 1, sizeof(*f.roles));
	f.callers = large_alloc(((size_t)p->count.stacks + 1) * sizeof(*f.callers));
	if (!trampolines || !f.roles || !f.callers) {
		ret = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 0; i < p->count.frames; i++)
		f.roles[i] = python_role_of(p, trampolines, &p->frames[i]);
	join_python_frames(&f);
out:
	free(trampolines);
	free(f.roles);
	free(f.callers);
	return ret;
}
