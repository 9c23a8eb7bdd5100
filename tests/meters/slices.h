/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Layout of the map entries that slices.bpf.c writes and slices.c reads. */
#ifndef SLICES_H
#define SLICES_H

/* Sum over the children of one process, on one CPU. */
struct slices {
	__u64 ns;
	__u64 count; /* turns on the CPU */
};

#endif
