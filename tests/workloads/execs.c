// SPDX-License-Identifier: Apache-2.0
/*
 * Starts programs of which each is a file of its own, with a new inode, name and build id, and ends
 * at once: what a profiler remembers of files and processes is always new to it. Prints how many
 * were started so far, ten times a second.
 *
 *   execs DIRECTORY SECONDS PER-SECOND
 *
 * Files are removed later; the directory is left empty.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define BASE 0x400000 /* address of the file in memory */
#define STARTERS 3 /* processes that start programs */
#define KEPT 1000 /* files that a starter leaves until later */

extern char **environ;

/* A whole program, without libraries. */
struct program {
	Elf64_Ehdr header;
	Elf64_Phdr load, note;
	Elf64_Nhdr name;
	char gnu[4];
	unsigned char id[20];
	unsigned char code[16];
};

/* xor %edi, %edi; mov $60, %eax; syscall: exit(0) */
static const unsigned char code[] = {0x31, 0xff, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05};

static void write_program(const char *path, uint64_t number)
{
	struct program p = {
		.header = {.e_type = ET_EXEC,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_entry = BASE + offsetof(struct program, code),
			   .e_phoff = offsetof(struct program, load),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
		.load = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_vaddr = BASE,
			 .p_filesz = sizeof(p),
			 .p_memsz = sizeof(p),
			 .p_align = 4096},
		.note = {.p_type = PT_NOTE,
			 .p_flags = PF_R,
			 .p_offset = offsetof(struct program, name),
			 .p_vaddr = BASE + offsetof(struct program, name),
			 .p_filesz =
				 offsetof(struct program, code) - offsetof(struct program, name),
			 .p_align = 4},
		.name = {.n_namesz = sizeof(p.gnu),
			 .n_descsz = sizeof(p.id),
			 .n_type = NT_GNU_BUILD_ID},
		.gnu = "GNU",
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	memcpy(p.header.e_ident, ELFMAG, SELFMAG);
	p.header.e_ident[EI_CLASS] = ELFCLASS64;
	p.header.e_ident[EI_DATA] = ELFDATA2LSB;
	p.header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(p.id, &number, sizeof(number));
	memcpy(p.code, code, sizeof(code));
	if (fd < 0 || write(fd, &p, sizeof(p)) != sizeof(p))
		_exit(1);
	close(fd);
}

static void sleep_until(uint64_t due)
{
	uint64_t now = boot_ns();

	if (due > now)
		usleep((useconds_t)((due - now) / 1000));
}

static void name_of(char *out, size_t size, const char *directory, int starter, uint64_t number)
{
	snprintf(out, size, "%s/%d-%llu", directory, starter, (unsigned long long)number);
}

/* Start programs until a time, ns, one every so many ns; count them. */
static void start_programs(const char *directory, int starter, uint64_t until, uint64_t every,
			   uint64_t *count)
{
	uint64_t begin = boot_ns(), n = 0;
	char path[512];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (boot_ns() < until) {
		char *args[] = {path, NULL};
		pid_t pid;
		int ret;

		name_of(path, sizeof(path), directory, starter, n);
		write_program(path, n * STARTERS + (uint64_t)starter);
		ret = posix_spawn(&pid, path, NULL, NULL, args, environ);
		if (ret && ret != ETXTBSY) /* another starter's child has the file open for now */
			_exit(1);
		if (!ret) {
			waitpid(pid, NULL, 0);
			__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
		}
		n++;
		if (n > KEPT) {
			name_of(path, sizeof(path), directory, starter, n - 1 - KEPT);
			unlink(path);
		}
		sleep_until(begin + n * every);
	}
	for (uint64_t i = n > KEPT ? n - KEPT : 0; i < n; i++) {
		name_of(path, sizeof(path), directory, starter, i);
		unlink(path);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t until = boot_ns() + (uint64_t)(argc > 2 ? atof(argv[2]) * 1e9 : 0);
	uint64_t *count =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (argc < 4 || atof(argv[3]) <= 0 || count == MAP_FAILED)
		return 2;
	for (int i = 0; i < STARTERS; i++)
		if (!fork())
			start_programs(argv[1], i, until,
				       (uint64_t)(STARTERS * 1e9 / atof(argv[3])), count);
	while (boot_ns() < until) {
		printf("%llu\n", (unsigned long long)__atomic_load_n(count, __ATOMIC_RELAXED));
		fflush(stdout);
		usleep(100000);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
