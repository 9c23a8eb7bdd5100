/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
#ifndef SLICES_H
#define SLICES_H

/* Sum over the children of one process, on one CPU. */
struct slices {
	__u64 ns;
	__u64 count; /* turns on the CPU */
};

#endif
