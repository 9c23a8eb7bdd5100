// SPDX-License-Identifier: Apache-2.0
/* A library whose functions call back, so that native frames lie between Python frames. */
#include <stddef.h>

#define APART __attribute__((noinline, noipa))

APART int callback_inner(int (*called)(int), int value)
{
	int got = called(value);

	__asm__ volatile("" ::: "memory"); /* prevents a tail call */
	return got + 1;
}

APART int callback_outer(int (*called)(int), int value)
{
	int got = callback_inner(called, value);

	__asm__ volatile("" ::: "memory");
	return got + 1;
}
