// SPDX-License-Identifier: Apache-2.0
/*
 * Run a thread of a JVM instruction by instruction, and check before each instruction of generated
 * code whether its caller is found from the code's bytes:
 *
 *   hotspot_steps PID TID STEPS
 *
 * What is found is right if the thread later comes to that return address with that stack pointer
 * and rbp. Until then it is open; it is wrong if the thread leaves the frame in another way, as
 * with an exception. The caller says on standard input what code there is; see ask_for_blob().
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolizers/unwind/code_flow.h"
#include "symbolizers/unwind/hotspot_paths.h"

#define HEAPS_MAX 8
#define FRAMES_MAX 4096
#define KINDS 128
/* Bytes by which a callee's stack pointer may lie above its caller's: it pops arguments. */
#define SLACK 64

struct blob {
	uint64_t begin, end;
	int kind; /* a letter */
	struct code_flow flow;
	uint8_t *code;
};

struct counts {
	uint64_t right, wrong, open, silent;
};

/* The caller of a frame. */
struct code_caller {
	uint64_t pc, sp, fp;
	bool fp_known;
};

/* A frame that the thread has not left yet, and how many instructions of it were seen. */
struct frame {
	struct code_caller caller;
	uint64_t first, last; /* pc */
	bool left_code; /* meanwhile, the thread has run the JVM's own code */
	uint32_t seen[KINDS];
};

struct steps {
	pid_t pid, tid;
	int memory;
	uint64_t heaps[HEAPS_MAX][2];
	size_t heap_count;
	VECTOR(struct blob *) blobs;
	struct user_regs_struct regs;
	struct frame *frames;
	size_t depth;
	struct counts counts[KINDS];
};

static int read_memory(void *context, void *to, size_t bytes, uint64_t address)
{
	struct steps *s = context;

	return pread(s->memory, to, bytes, (off_t)address) == (ssize_t)bytes ? 0 : -EFAULT;
}

static bool is_generated(const struct steps *s, uint64_t pc)
{
	for (size_t i = 0; i < s->heap_count; i++) {
		if (pc >= s->heaps[i][0] && pc < s->heaps[i][1])
			return true;
	}
	return false;
}

static int follow_blob(struct blob *b, int frame_words, int complete, unsigned int entry)
{
	const struct hotspot_compiled method = {
		.code = b->code,
		.size = b->end - b->begin,
		.kind = b->kind == 'C'	 ? HOTSPOT_COMPILED_METHOD
			: b->kind == 'A' ? HOTSPOT_COMPILED_ADAPTER
					 : HOTSPOT_COMPILED_NATIVE,
		.frame_words = frame_words,
		.complete = complete,
		.entry = entry,
	};
	int ret = code_flow_init(&b->flow, b->code, b->end - b->begin);

	if (ret)
		return ret;
	switch (b->kind) {
	case 'F':
		return hotspot_paths_follow(&b->flow, HOTSPOT_ONCE_FUNCTIONS);
	case 'f':
		return hotspot_paths_follow(&b->flow, HOTSPOT_ONCE_FUNCTION);
	case 'L':
		return hotspot_paths_follow(&b->flow, HOTSPOT_ONCE_LINKERS);
	case 'i':
		return hotspot_paths_follow(&b->flow, HOTSPOT_ONCE_CODELET);
	case 'e':
		return hotspot_paths_follow(&b->flow, HOTSPOT_ONCE_ENTRY);
	default:
		return hotspot_compiled_follow(&b->flow, &method);
	}
}

/*
 * Ask which code holds pc: print "? PC" and read "KIND BEGIN END FRAME_WORDS COMPLETE ENTRY". KIND
 * is C (compiled), N (native wrapper), A (adapter), F (many functions), f (one), L (linkers), i
 * (codelet with a frame), e (method entry), B (no frame), or - (nothing).
 */
static struct blob *ask_for_blob(struct steps *s, uint64_t pc)
{
	struct blob *b = calloc(1, sizeof(*b));
	int frame_words, complete;
	unsigned int entry;
	char kind;

	printf("? %" PRIx64 "\n", pc);
	fflush(stdout);
	if (scanf(" %c %" SCNx64 " %" SCNx64 " %d %d %u", &kind, &b->begin, &b->end, &frame_words,
		  &complete, &entry) != 6)
		exit(1);
	b->kind = kind;
	b->code = malloc(b->end - b->begin + 1);
	if (kind != '-' && kind != 'B' &&
	    (read_memory(s, b->code, b->end - b->begin, b->begin) ||
	     follow_blob(b, frame_words, complete, entry)))
		printf("# cannot follow %c %" PRIx64 "\n", kind, b->begin);
	if (vector_push(&s->blobs, b))
		exit(1);
	return b;
}

static struct blob *find_blob(struct steps *s, uint64_t pc)
{
	static struct blob *last;

	if (last && pc >= last->begin && pc < last->end)
		return last;
	for (size_t i = 0; i < s->blobs.count; i++) {
		last = s->blobs.items[i];
		if (pc >= last->begin && pc < last->end)
			return last;
	}
	return last = ask_for_blob(s, pc);
}

static void take_registers(const struct user_regs_struct *r, uint64_t *to)
{
	const uint64_t all[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
				r->r8,	r->r9,	r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};

	memcpy(to, all, sizeof(all));
}

/* Leave a frame by the row of the walker of Java frames. */
static int leave_by_row(struct code_caller *out, const struct hotspot_row *row,
			const uint64_t *registers, struct steps *s)
{
	const uint64_t sp = registers[UNWIND_REG_SP], fp = registers[UNWIND_REG_FP];
	uint64_t place = row->state == HOTSPOT_RETURN_AT_SP	 ? sp
			 : row->state == HOTSPOT_RETURN_ABOVE_FP ? sp + 8
								 : fp + 8;
	bool own = row->state == HOTSPOT_RETURN_AT_FP || row->state == HOTSPOT_FRAME;

	*out = (struct code_caller){.fp = fp, .sp = place + 8, .fp_known = true};
	if (row->state == HOTSPOT_UNKNOWN)
		return -ENOENT;
	if (row->state == HOTSPOT_RETURN_IN_REGISTER) {
		out->pc = registers[row->return_register];
		out->sp = sp;
	} else if (read_memory(s, &out->pc, 8, place)) {
		return -EFAULT;
	}
	if ((own || row->state == HOTSPOT_RETURN_ABOVE_FP) &&
	    read_memory(s, &out->fp, 8, own ? fp : sp))
		return -EFAULT;
	if (row->sender_register != HOTSPOT_NO_REGISTER)
		out->sp = registers[row->sender_register];
	else if (own && read_memory(s, &out->sp, 8, fp - 8))
		return -EFAULT;
	return 0;
}

/* Leave a frame by a rule, which has the return address in the stack or in a register. */
static int leave_by_rule(struct code_caller *out, const struct unwind_rule *r,
			 const uint64_t *registers, struct steps *s)
{
	uint64_t cfa = registers[r->reg] + (uint64_t)(int64_t)r->cfa_offset;

	if (r->kind != UNWIND_CFA)
		return -ENOENT;
	*out = (struct code_caller){.fp = registers[UNWIND_REG_FP], .sp = cfa};
	out->fp_known = UNWIND_SAVED_FP(r->saved) != UNWIND_FP_UNKNOWN;
	if (UNWIND_SAVED_RA(r->saved) == UNWIND_RA_IN_REGISTER)
		out->pc = registers[r->index];
	else if (read_memory(s, &out->pc, 8, cfa + (uint64_t)(int64_t)r->second))
		return -EFAULT;
	if (UNWIND_SAVED_FP(r->saved) == UNWIND_FP_AT_CFA &&
	    read_memory(s, &out->fp, 8, cfa + (uint64_t)(int64_t)r->fp_offset))
		return -EFAULT;
	return 0;
}

/* Leave a frame of a method or an adapter by its row. */
static int leave_by_code(struct code_caller *out, const struct hotspot_code_row *r,
			 const uint64_t *registers, struct steps *s)
{
	uint64_t sp = registers[UNWIND_REG_SP] + (uint64_t)(8 * (int64_t)r->depth);

	if (!r->return_word && r->return_register == HOTSPOT_NO_REGISTER)
		return -ENOENT;
	if (r->depth == HOTSPOT_DEPTH_UNKNOWN) {
		if (r->held &&
		    read_memory(s, &sp, 8, registers[UNWIND_REG_SP] + 8 * (uint64_t)(r->held - 1)))
			return -EFAULT;
		sp = (r->held ? sp : registers[r->sender_register]) + 8 * (uint64_t)r->sender_words;
	}
	*out = (struct code_caller){.fp = registers[UNWIND_REG_FP], .sp = sp, .fp_known = true};
	if (!r->return_word)
		out->pc = registers[r->return_register];
	else if (read_memory(s, &out->pc, 8, sp - 8 * (uint64_t)r->return_word))
		return -EFAULT;
	if (r->saved_fp && read_memory(s, &out->fp, 8, sp - 8 * (uint64_t)r->saved_fp))
		return -EFAULT;
	return 0;
}

/* Find the caller of the code at pc. Return 0 or a negative errno. */
static int find_caller(struct steps *s, const struct blob *b, struct code_caller *out)
{
	const struct code_state *state = &code_state_function;
	uint64_t registers[UNWIND_REGISTERS];
	struct hotspot_code_row code;
	struct hotspot_row row;
	struct unwind_rule rule;

	take_registers(&s->regs, registers);
	if (b->kind != 'B')
		state = code_flow_state(&b->flow, s->regs.rip - b->begin);
	if (!state)
		return -ENOENT;
	row = code_state_row(state);
	rule = code_state_rule(state);
	if (b->kind == 'i' || b->kind == 'e')
		return leave_by_row(out, &row, registers, s);
	if (b->kind == 'F' || b->kind == 'f' || b->kind == 'L')
		return leave_by_rule(out, &rule, registers, s);
	code = code_state_code_row(state);
	return leave_by_code(out, &code, registers, s);
}

static void count_frame(struct steps *s, const struct frame *f, bool right, const char *why)
{
	const struct blob *b = NULL;

	for (int kind = 0; kind < KINDS; kind++) {
		if (right)
			s->counts[kind].right += f->seen[kind];
		else
			s->counts[kind].wrong += f->seen[kind];
	}
	if (right)
		return;
	for (size_t i = 0; i < s->blobs.count; i++) {
		if (f->first >= s->blobs.items[i]->begin && f->first < s->blobs.items[i]->end)
			b = s->blobs.items[i];
	}
	printf("! %s %c blob %" PRIx64 " first %" PRIx64 " last %" PRIx64 " found pc %" PRIx64
	       " sp %" PRIx64 " fp %" PRIx64 "; at pc %llx sp %llx fp %llx\n",
	       why, b ? b->kind : '?', b ? b->begin : 0, f->first, f->last, f->caller.pc,
	       f->caller.sp, f->caller.fp, s->regs.rip, s->regs.rsp, s->regs.rbp);
}

/*
 * Return whether the thread has come back from a frame. The interpreter finds its own stack pointer
 * by rbp, so its callees may return with another one. A safepoint may return behind the instruction
 * at which it began.
 */
static bool is_back(const struct steps *s, const struct code_caller *c)
{
	const uint64_t pc = s->regs.rip, sp = s->regs.rsp;

	if (pc >= c->pc && pc - c->pc < 16 && sp == c->sp)
		return true;
	return pc == c->pc && s->regs.rbp == c->fp && c->sp - sp < 8192;
}

/* The thread may have left frames. */
static void leave_frames(struct steps *s)
{
	while (s->depth) {
		struct frame *top = &s->frames[s->depth - 1];
		const struct code_caller *c = &top->caller;

		if (is_back(s, c)) {
			/* what rbp held may have been moved meanwhile, by a garbage collection */
			bool fp = !c->fp_known || s->regs.rbp == c->fp || top->left_code;

			count_frame(s, top, fp, "rbp");
			s->depth--;
			continue;
		}
		if (s->regs.rsp <= c->sp + SLACK)
			return;
		count_frame(s, top, false, "left");
		s->depth--;
	}
}

static bool is_same_caller(const struct code_caller *a, const struct code_caller *b)
{
	return a->pc == b->pc && a->sp == b->sp && a->fp_known == b->fp_known &&
	       (!a->fp_known || a->fp == b->fp);
}

static void check_step(struct steps *s)
{
	struct code_caller c = {0};
	struct frame *top;
	struct blob *b;

	leave_frames(s);
	if (!is_generated(s, s->regs.rip)) {
		for (size_t i = 0; i < s->depth; i++)
			s->frames[i].left_code = true;
		return;
	}
	b = find_blob(s, s->regs.rip);
	if (find_caller(s, b, &c)) {
		if (!s->counts[b->kind].silent++ || getenv("SILENT"))
			printf("# silent %c blob %" PRIx64 " pc %llx\n", b->kind, b->begin,
			       s->regs.rip);
		return;
	}
	top = s->depth ? &s->frames[s->depth - 1] : NULL;
	if (!top || !is_same_caller(&top->caller, &c)) {
		if (s->depth == FRAMES_MAX)
			return;
		top = &s->frames[s->depth++];
		*top = (struct frame){.caller = c, .first = s->regs.rip};
	}
	top->last = s->regs.rip;
	top->seen[b->kind]++;
}

/* Run to the return address at the stack pointer, with a breakpoint. Return false if it fails. */
static bool skip_native(struct steps *s)
{
	const size_t debug = offsetof(struct user, u_debugreg);
	uint64_t to, sp = s->regs.rsp;
	int status, signal = 0;

	if (read_memory(s, &to, 8, sp) || !is_generated(s, to) ||
	    ptrace(PTRACE_POKEUSER, s->tid, debug, to) ||
	    ptrace(PTRACE_POKEUSER, s->tid, debug + 56, 1))
		return false;
	do {
		if (ptrace(PTRACE_CONT, s->tid, 0, signal) ||
		    waitpid(s->tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			exit(1);
		signal = WSTOPSIG(status) == SIGTRAP || status >> 16 ? 0 : WSTOPSIG(status);
		if (ptrace(PTRACE_GETREGS, s->tid, 0, &s->regs))
			exit(1);
	} while (signal || s->regs.rip != to || s->regs.rsp <= sp);
	ptrace(PTRACE_POKEUSER, s->tid, debug + 56, 0);
	return true;
}

#define TRAP_FLAG 0x100 /* of rflags: set while the thread is stepped */

/* pushf has stored the flags with the trap flag, and popf would set it when nobody steps any more.
 */
static void clear_stored_trap(struct steps *s)
{
	uint64_t flags;

	if (!read_memory(s, &flags, 8, s->regs.rsp) && flags & TRAP_FLAG)
		ptrace(PTRACE_POKEDATA, s->tid, s->regs.rsp, flags & ~(uint64_t)TRAP_FLAG);
}

static bool step(struct steps *s, int *signal)
{
	uint8_t code = 0;
	int status;

	read_memory(s, &code, 1, s->regs.rip);
	if (ptrace(PTRACE_SINGLESTEP, s->tid, 0, *signal) || waitpid(s->tid, &status, __WALL) < 0 ||
	    !WIFSTOPPED(status))
		return false;
	*signal = WSTOPSIG(status) == SIGTRAP || status >> 16 ? 0 : WSTOPSIG(status);
	if (ptrace(PTRACE_GETREGS, s->tid, 0, &s->regs))
		return false;
	if (code == 0x9c)
		clear_stored_trap(s);
	if (!(s->regs.eflags & TRAP_FLAG))
		return true;
	/* After popf, the kernel takes the trap flag for the program's own and leaves it set. */
	s->regs.eflags &= ~(unsigned long long)TRAP_FLAG;
	ptrace(PTRACE_SETREGS, s->tid, 0, &s->regs);
	return true;
}

int main(int argc, char **argv)
{
	struct steps s = {.frames = calloc(FRAMES_MAX, sizeof(*s.frames))};
	int status, signal = 0;
	char path[64];
	long count;
	bool before = false;

	if (argc != 4)
		return 2;
	setvbuf(stdin, NULL, _IOLBF, 4096);
	s.pid = atoi(argv[1]);
	s.tid = atoi(argv[2]);
	count = atol(argv[3]);
	srand((unsigned int)getpid());
	snprintf(path, sizeof(path), "/proc/%d/mem", s.pid);
	s.memory = open(path, O_RDONLY);
	if (scanf("%zu", &s.heap_count) != 1 || s.heap_count > HEAPS_MAX)
		return 2;
	for (size_t i = 0; i < s.heap_count; i++) {
		if (scanf("%" SCNx64 " %" SCNx64, &s.heaps[i][0], &s.heaps[i][1]) != 2)
			return 2;
	}
	if (ptrace(PTRACE_SEIZE, s.tid, 0, 0) || ptrace(PTRACE_INTERRUPT, s.tid, 0, 0) ||
	    waitpid(s.tid, &status, __WALL) < 0 || ptrace(PTRACE_GETREGS, s.tid, 0, &s.regs))
		return 1;
	for (long i = 0; i < count; i++) {
		bool inside = is_generated(&s, s.regs.rip);

		check_step(&s);
		if (before && !inside && (rand() & 15) && skip_native(&s)) {
			before = true;
			continue;
		}
		before = inside;
		if (!step(&s, &signal))
			break;
	}
	for (size_t i = 0; i < s.depth; i++) {
		for (int kind = 0; kind < KINDS; kind++)
			s.counts[kind].open += s.frames[i].seen[kind];
	}
	for (int kind = 0; kind < KINDS; kind++) {
		const struct counts *c = &s.counts[kind];

		if (c->right + c->wrong + c->open + c->silent)
			printf("= %c right %" PRIu64 " wrong %" PRIu64 " open %" PRIu64
			       " silent %" PRIu64 "\n",
			       kind, c->right, c->wrong, c->open, c->silent);
	}
	ptrace(PTRACE_DETACH, s.tid, 0, signal);
	return 0;
}
