// SPDX-License-Identifier: Apache-2.0
/*
 * Hooks programs of bench_empty.bpf.c in until it is interrupted:
 *
 *   bench_empty FILE.o PROGRAM...
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static bool is_named(const struct bpf_program *program, int count, char **names)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(bpf_program__name(program), names[i]))
			return true;
	return false;
}

static int attach(const struct bpf_object *object, int count, char **names)
{
	struct bpf_program *program;
	int attached = 0;

	bpf_object__for_each_program(program, object) if (is_named(program, count, names))
		attached += bpf_program__attach(program) != NULL;
	return attached == count ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc > 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!object || bpf_object__load(object) || attach(object, argc - 2, argv + 2))
		return 1;
	return sigwait(&set, &got);
}
