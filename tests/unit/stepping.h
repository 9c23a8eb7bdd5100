/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the true frames of a program by running it instruction by instruction and noting every
 * return address that a call pushes, its place and the frame pointer at that time. The rule of an
 * unwind table for each instruction is compared with these notes. x86-64 only.
 */
#ifndef SKEIN_TESTS_STEPPING_H
#define SKEIN_TESTS_STEPPING_H

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "files.h"
#include "symbolizers/elf_image.h"
#include "table_find.h"

/* Bytes by which the stack pointer moves at most within one stack. */
#define STEPPING_FAR (1 << 20)
#define STEPPING_CALLS 4096
#define STEPPING_DEPTH 256

struct stepping_call {
	uint64_t at, value; /* place and value of the return address */
	uint64_t frame; /* the caller's frame pointer */
};

struct stepping {
	pid_t pid;
	int memory; /* /proc/PID/mem */
	uint64_t address, offset, size; /* the code of the table, in the process */
	const struct unwind_table *table;
	struct stepping_call calls[STEPPING_CALLS]; /* sorted by place */
	size_t count;
	struct user_regs_struct regs;
	/* Results. */
	size_t checked, pointers, unsaid, ended, unknown, walks, complete;
	char wrong[256]; /* "": no error */
};

static FILES_UNUSED uint64_t stepping_read(const struct stepping *s, uint64_t address)
{
	uint64_t value = 0;

	return pread(s->memory, &value, 8, (off_t)address) == 8 ? value : 0;
}

static const struct unwind_rule *stepping_rule(const struct stepping *s, uint64_t pc)
{
	if (pc < s->address || pc - s->address >= s->size)
		return NULL;
	return unwind_table_find(s->table, pc - s->address + s->offset);
}

/* Find the first note at or above a place. */
static size_t stepping_find(const struct stepping *s, uint64_t at)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->calls[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void stepping_forget(struct stepping *s, uint64_t from, uint64_t to)
{
	size_t first = stepping_find(s, from), last = stepping_find(s, to);

	memmove(s->calls + first, s->calls + last, (s->count - last) * sizeof(*s->calls));
	s->count -= last - first;
}

static void stepping_note(struct stepping *s, const struct stepping_call *call)
{
	size_t i;

	stepping_forget(s, call->at, call->at + 8);
	ck_assert_uint_lt(s->count, STEPPING_CALLS);
	i = stepping_find(s, call->at);
	memmove(s->calls + i + 1, s->calls + i, (s->count - i) * sizeof(*s->calls));
	s->calls[i] = *call;
	s->count++;
}

/* Update the notes after one instruction. */
static void stepping_follow(struct stepping *s, const struct user_regs_struct *before)
{
	const struct user_regs_struct *now = &s->regs;
	bool far = now->rsp > before->rsp ? now->rsp - before->rsp > STEPPING_FAR
					  : before->rsp - now->rsp > STEPPING_FAR;
	uint64_t value;

	if (far) {
		/* Drop the notes of earlier calls on the stack that is entered. */
		stepping_forget(s, now->rsp - (1 << 16), now->rsp);
	} else if (now->rsp > before->rsp) {
		stepping_forget(s, before->rsp, now->rsp);
	} else if (now->rsp == before->rsp - 8) {
		value = stepping_read(s, now->rsp);
		/* A call instruction has 2 to 7 bytes. */
		if (value - before->rip >= 2 && value - before->rip <= 7 && now->rip != value)
			stepping_note(s, &(struct stepping_call){now->rsp, value, before->rbp});
	}
}

/* The registers of a frame, found by a rule. */
struct stepping_frame {
	uint64_t pc, sp, fp;
};

static bool stepping_leave(const struct stepping *s, const struct unwind_rule *r,
			   struct stepping_frame *f, uint64_t *slot)
{
	uint64_t cfa;

	if (r->kind == UNWIND_FRAME) {
		*slot = f->fp + 8;
		*f = (struct stepping_frame){stepping_read(s, *slot), f->fp + 16,
					     stepping_read(s, f->fp)};
		return true;
	}
	if (r->kind != UNWIND_CFA && r->kind != UNWIND_CLONE)
		return false;
	if (UNWIND_SAVED_RA(r->saved) != UNWIND_RA_AT_CFA)
		return false;
	cfa = f->sp + (uint64_t)(int64_t)r->cfa_offset;
	*slot = cfa + (uint64_t)(int64_t)r->second;
	if (UNWIND_SAVED_FP(r->saved) == UNWIND_FP_AT_CFA)
		f->fp = stepping_read(s, cfa + (uint64_t)(int64_t)r->fp_offset);
	f->sp = cfa;
	f->pc = stepping_read(s, *slot);
	return true;
}

#define stepping_wrong(s, ...) snprintf((s)->wrong, sizeof((s)->wrong), __VA_ARGS__)

/*
 * Compare one frame with the notes: its return address must be noted, be the nearest one, and the
 * frame pointer must match.
 */
static void stepping_compare(struct stepping *s, const struct unwind_rule *r, uint64_t pc,
			     uint64_t sp, const struct stepping_frame *f, uint64_t slot)
{
	size_t i = stepping_find(s, slot), nearest = stepping_find(s, sp);
	const struct stepping_call *call = &s->calls[i];

	if (i == s->count || call->at != slot) {
		/* The return address was not pushed by a call: the first frame of a goroutine. */
		const struct unwind_rule *up = stepping_rule(s, f->pc - 1);

		s->unknown++;
		if (f->pc && stepping_rule(s, pc) && !up)
			stepping_wrong(s, "%#lx: return address %#lx", (long)pc, (long)f->pc);
		return;
	}
	if ((r->kind == UNWIND_CFA || slot - sp < STEPPING_FAR) && i != nearest)
		stepping_wrong(s, "%#lx: a nearer return address at sp + %ld, not %ld", (long)pc,
			       (long)(s->calls[nearest].at - sp), (long)(slot - sp));
	else if (f->pc != call->value)
		stepping_wrong(s, "%#lx: %#lx is not the return address", (long)pc, (long)f->pc);
	else if (f->fp != call->frame)
		stepping_wrong(s, "%#lx: frame pointer %#lx, not %#lx", (long)pc, (long)f->fp,
			       (long)call->frame);
}

/* Check the frame at the current instruction and, if all, all its callers. */
static void stepping_check(struct stepping *s, bool all)
{
	struct stepping_frame f = {s->regs.rip, s->regs.rsp, s->regs.rbp};

	for (size_t depth = 0; depth < (all ? STEPPING_DEPTH : 1) && !s->wrong[0]; depth++) {
		const struct unwind_rule *r = stepping_rule(s, f.pc - (depth > 0));
		uint64_t pc = f.pc, sp = f.sp, slot;

		if (!r)
			break;
		if (r->kind == UNWIND_END) {
			s->ended += !depth;
			s->complete += all;
			break;
		}
		if (!stepping_leave(s, r, &f, &slot)) {
			s->unsaid++;
			break;
		}
		s->checked++;
		s->pointers += r->kind == UNWIND_FRAME;
		stepping_compare(s, r, pc, sp, &f, slot);
	}
	s->walks += all;
}

/* Start a program with GOMAXPROCS=1, stopped at its first instruction. */
static FILES_UNUSED void stepping_begin(struct stepping *s, const char *path)
{
	char text[64];
	int status;

	s->pid = fork();
	ck_assert_int_ge(s->pid, 0);
	if (!s->pid) {
		setenv("GOMAXPROCS", "1", 1);
		setenv("GODEBUG", "asyncpreemptoff=1", 1);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execl(path, path, NULL);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(s->pid, &status, 0), s->pid);
	ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, s->pid, 0, PTRACE_O_EXITKILL), 0);
	snprintf(text, sizeof(text), "/proc/%d/mem", s->pid);
	s->memory = open(text, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(s->memory, 0);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, s->pid, 0, &s->regs), 0);
}

/* Run at full speed to an address, which must be in the code that the table describes. */
static FILES_UNUSED void stepping_run_to(struct stepping *s, uint64_t address)
{
	uint64_t code = stepping_read(s, address), trap = (code & ~(uint64_t)255) | 0xcc;
	int status, signal = 0;

	ck_assert_int_eq(pwrite(s->memory, &trap, 8, (off_t)address), 8);
	do {
		ck_assert_int_eq(ptrace(PTRACE_CONT, s->pid, 0, signal), 0);
		ck_assert_int_eq(waitpid(s->pid, &status, 0), s->pid);
		ck_assert(WIFSTOPPED(status));
		signal = WSTOPSIG(status);
	} while (signal != SIGTRAP);
	ck_assert_int_eq(pwrite(s->memory, &code, 8, (off_t)address), 8);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, s->pid, 0, &s->regs), 0);
	s->regs.rip = address;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, s->pid, 0, &s->regs), 0);
	s->count = 0;
}

/* Run one instruction; return false when the program has ended. */
static FILES_UNUSED bool stepping_step(struct stepping *s)
{
	struct user_regs_struct before = s->regs;
	int status;

	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, s->pid, 0, 0), 0);
	ck_assert_int_eq(waitpid(s->pid, &status, 0), s->pid);
	if (!WIFSTOPPED(status))
		return false;
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, s->pid, 0, &s->regs), 0);
	stepping_follow(s, &before);
	return true;
}

static FILES_UNUSED void stepping_end(struct stepping *s)
{
	close(s->memory);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

#endif
