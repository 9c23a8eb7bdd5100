// SPDX-License-Identifier: Apache-2.0
/*
 * Print the Python frames of all threads of a stopped process, as skein's own walker finds them and
 * its own reader names them, for tests and for debugging.
 *
 *   python_state PID [TID...]		print only frames, of all threads or of these
 *   python_state --save PID [TID...]	also print all memory that was read, as in tests/replay
 */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/python_state.h"
#include "../unit/python_walker.h"
#include "symbolizers/python_file.h"

#define THREADS_MAX 4096
/* Save the whole aligned line of each byte read: a later reader may read a little more at once. */
#define LINE_BYTES 64ULL

struct subject {
	pid_t pid;
	char **wanted; /* TIDs as text */
	int wanted_count; /* 0: all */
	int memory;
	struct python_state *state;
	bool keep; /* save the memory that is read */
	struct python_file file;
	struct python_process python;
	uint64_t bias;
};

/* Save the lines around what was read. If one byte of a line is readable, all of them are. */
static bool keep_words(struct subject *p, uint64_t address, size_t size)
{
	uint64_t end = (address + size + LINE_BYTES - 1) & ~(LINE_BYTES - 1);

	for (uint64_t at = address & ~(LINE_BYTES - 1); at < end; at += 8) {
		struct state_word word = {.address = at};

		if (pread(p->memory, &word.value, 8, (off_t)at) != 8 ||
		    vector_push(&p->state->words, word))
			return false;
	}
	return true;
}

static bool read_process(void *context, void *to, size_t size, uint64_t address)
{
	struct subject *p = context;

	if (address > INT64_MAX || pread(p->memory, to, size, (off_t)address) != (ssize_t)size)
		return false;
	return !p->keep || keep_words(p, address, size);
}

static int open_of(pid_t pid, const char *what, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	return open(path, flags | O_CLOEXEC);
}

/* Look for an interpreter in a mapped file. */
static bool look_into(struct subject *p, uint64_t start, uint64_t end, uint64_t offset)
{
	char name[96];
	int fd;

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, start, end);
	fd = open_of(p->pid, name, O_RDONLY);
	if (fd < 0 || python_file_read(&p->file, fd, NULL))
		p->file.support = PYTHON_NONE;
	if (fd >= 0)
		close(fd);
	p->bias = start - offset - p->file.code_delta;
	return p->file.support != PYTHON_NONE;
}

static bool find_python(struct subject *p)
{
	int fd = open_of(p->pid, "maps", O_RDONLY);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	uint64_t start, end, offset;
	char line[8192], rights[8];
	bool found = false;

	while (in && !found && fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &start, &end, rights,
			   &offset) == 4 &&
		    rights[2] == 'x' && strchr(line, '/'))
			found = look_into(p, start, end, offset);
	if (in)
		fclose(in);
	return found;
}

/* The registers of a thread, as the walker in the kernel gets them. */
struct stand {
	uint64_t self; /* the thread pointer */
	uint64_t registers[UNWIND_REGISTERS];
};

static int get_registers(pid_t tid, int kind, void *to, size_t size)
{
	struct iovec io = {to, size};

	return ptrace(PTRACE_GETREGSET, tid, kind, &io) ? -errno : 0;
}

#if defined(__aarch64__)
static int read_stand(pid_t tid, struct stand *ret)
{
	struct user_regs_struct regs = {0};
	int result = get_registers(tid, NT_PRSTATUS, &regs, sizeof(regs));

	for (int i = 0; i < 31 && i < UNWIND_REGISTERS; i++)
		ret->registers[i] = regs.regs[i];
	return result ? result : get_registers(tid, NT_ARM_TLS, &ret->self, sizeof(ret->self));
}
#else
static int read_stand(pid_t tid, struct stand *ret)
{
	struct user_regs_struct regs = {0};
	int result = get_registers(tid, NT_PRSTATUS, &regs, sizeof(regs));
	const uint64_t registers[] = {regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi,
				      regs.rbp, regs.rsp, regs.r8,  regs.r9,  regs.r10, regs.r11,
				      regs.r12, regs.r13, regs.r14, regs.r15};

	memcpy(ret->registers, registers, sizeof(registers));
	ret->self = regs.fs_base;
	return result;
}
#endif

/* Read the registers of a thread that is stopped and stays stopped. */
static int find_stand(pid_t tid, struct stand *ret)
{
	int result, status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return -errno;
	result = ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid
			 ? -errno
			 : read_stand(tid, ret);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return result;
}

static void name_frame(struct subject *p, struct state_frame *f)
{
	const struct python_memory memory = {read_process, p};
	struct python_code code;
	int ret = python_code_read(
		&code, &memory, &(struct python_interpreter){p->file.layout, p->python.code_type},
		f->code, f->id);

	strcpy(f->file, "-");
	if (ret) {
		snprintf(f->name, sizeof(f->name), "[%d]", ret);
		return;
	}
	f->line = python_code_line(&code, &p->file.layout, f->unit);
	state_clean(code.name, f->name);
	state_clean(code.file, f->file);
	python_code_free(&code);
}

static int add_frame(struct subject *p, const __u64 *words)
{
	struct state_frame f = {
		.kind = (uint32_t)(words[0] >> WIRE_TAG_SHIFT) - WIRE_TAG_PYTHON,
		.code = words[0] & ((1ULL << WIRE_TAG_SHIFT) - 1),
		.id = PYTHON_PLACE_ID(words[1]),
		.unit = PYTHON_PLACE_UNIT(words[1]),
	};

	if (words[0] >> WIRE_TAG_SHIFT == WIRE_TAG_PYTHON_SHIM)
		strcpy(f.file, strcpy(f.name, "-"));
	else
		name_frame(p, &f);
	return vector_push(&p->state->frames, f);
}

static int add_thread(struct subject *p, const struct stand *stand)
{
	static struct python_walker walker;
	const struct python_memory memory = {read_process, p};
	struct state_thread t = {.ident = stand->self, .first = p->state->frames.count};

	walker = (struct python_walker){.memory = &memory};
	walker_walk(&walker, &p->file.layout, &p->python, stand->self, stand->registers);
	t.flags = walker.walk.flags & ~(uint32_t)WIRE_PYTHON_NEW;
	t.end = (enum stack_end)walker.walk.end;
	t.count = walker.walk.at / 2;
	for (size_t i = 0; i < t.count; i++)
		if (add_frame(p, &walker.words[2 * i]))
			return -ENOMEM;
	return vector_push(&p->state->threads, t);
}

static int compare_tids(const void *a, const void *b)
{
	return *(const pid_t *)a < *(const pid_t *)b ? -1 : 1;
}

static size_t list_threads(pid_t pid, pid_t *tids)
{
	int fd = open_of(pid, "task", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t count = 0;

	while (dir && count < THREADS_MAX && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			tids[count++] = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	if (count)
		qsort(tids, count, sizeof(*tids), compare_tids);
	return count;
}

static bool is_wanted(const struct subject *p, pid_t tid)
{
	bool wanted = !p->wanted_count;

	for (int i = 0; !wanted && i < p->wanted_count; i++)
		wanted = atoi(p->wanted[i]) == tid;
	return wanted;
}

static int add_threads(struct subject *p)
{
	static pid_t tids[THREADS_MAX];
	size_t count = list_threads(p->pid, tids);
	int ret = count ? 0 : -ESRCH;

	for (size_t i = 0; !ret && i < count; i++) {
		struct stand stand = {0};

		if (!is_wanted(p, tids[i]))
			continue;
		ret = find_stand(tids[i], &stand);
		if (!ret)
			ret = add_thread(p, &stand);
	}
	return ret;
}

/* Keep each word once, even if it was read more often. */
static void keep_each_once(struct python_state *s)
{
	size_t kept = 0;

	state_sort(s);
	for (size_t i = 0; i < s->words.count; i++)
		if (!kept || s->words.items[kept - 1].address != s->words.items[i].address)
			s->words.items[kept++] = s->words.items[i];
	s->words.count = kept;
}

static int look_at(struct subject *p)
{
	const struct python_file *f = &p->file;

	if (!find_python(p)) {
		fprintf(stderr, "python_state: no Python in process %d\n", p->pid);
		return 1;
	}
	if (f->support != PYTHON_READABLE) {
		fprintf(stderr, "python_state: %s (%u.%u.%u)\n", python_support_text(f->support),
			f->major, f->minor, f->micro);
		return 1;
	}
	p->python = (struct python_process){
		.runtime = p->bias + f->runtime, .code_type = p->bias + f->code_type, .layout = 1};
	snprintf(p->state->program, sizeof(p->state->program), "Python %u.%u.%u", f->major,
		 f->minor, f->micro);
	p->state->layout = f->layout;
	p->state->runtime = p->python.runtime;
	p->state->code_type = p->python.code_type;
	return add_threads(p);
}

int main(int argc, char **argv)
{
	bool save = argc > 1 && !strcmp(argv[1], "--save");
	struct python_state state = {.program = ""};
	struct subject p = {.state = &state, .keep = save};
	int ret;

	argv += 1 + save;
	argc -= 1 + save;
	if (argc < 1 || atoi(*argv) <= 0) {
		fprintf(stderr, "usage: python_state [--save] PID [TID...]\n");
		return 2;
	}
	p.pid = atoi(*argv);
	p.wanted = argv + 1;
	p.wanted_count = argc - 1;
	p.memory = open_of(p.pid, "mem", O_RDONLY);
	ret = p.memory < 0 ? -errno : look_at(&p);
	if (ret < 0)
		fprintf(stderr, "python_state: process %d: %s\n", p.pid, strerror(-ret));
	if (!ret && save) {
		keep_each_once(&state);
		state_write(&state, stdout);
	} else if (!ret) {
		state_write_threads(&state, stdout);
	}
	state_free(&state);
	return ret != 0;
}
