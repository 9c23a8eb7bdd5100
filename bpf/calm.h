/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Programs at whose exec the consumer of the ring buffers need not be woken. An exec wakes the
 * consumer for two reasons: a file that user space does not know must be read before the process
 * ends, and the Python frames of a process are walked only after user space has found its
 * interpreter. Most programs that a busy machine starts have only known files and no interpreter;
 * samples that precede their mappings are finished later in user space. User space therefore enters
 * a program's executable in calm_programs once a process of that program has ended whose files were
 * all known, and which had neither Python nor generated code.
 */
#ifndef SKEIN_BPF_CALM_H
#define SKEIN_BPF_CALM_H

#include "bpf/event.h"

struct super_block___calm {
	__u32 s_dev;
} __attribute__((preserve_access_index));

struct inode___calm {
	struct super_block___calm *i_sb;
	unsigned long i_ino;
} __attribute__((preserve_access_index));

struct file___calm {
	struct inode___calm *f_inode;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, WIRE_CALM_MAX);
	__type(key, struct wire_file);
	__type(value, __u8);
} calm_programs SEC(".maps");

/*
 * Return whether the consumer need not be woken for the program that task has just begun to
 * execute.
 */
static __always_inline bool is_calm_program(struct task_struct *task)
{
	struct file___calm *file = (void *)BPF_CORE_READ(task, mm, exe_file);
	struct wire_file key = {.inode = BPF_CORE_READ(file, f_inode, i_ino)};

	key.device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	return bpf_map_lookup_elem(&calm_programs, &key) != NULL;
}

#endif
