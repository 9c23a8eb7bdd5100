// SPDX-License-Identifier: Apache-2.0
/* The native methods of Bare.java: functions that keep their callers' registers on the stack. */
#include <alloca.h>
#include <jni.h>

#define ROUNDS 20000

static __attribute__((noinline)) jlong work(jlong n)
{
	volatile char bytes[64] = {0};

	for (int i = 0; i < ROUNDS; i++) {
		bytes[i & 63] = (char)n;
		n = n * 31 + bytes[(i + 1) & 63];
	}
	return n;
}

static __attribute__((noinline)) jlong work_on(jlong n, size_t size)
{
	volatile char *bytes = alloca(size);

	bytes[0] = 1;
	for (int i = 0; i < ROUNDS; i++)
		n = n * 31 + bytes[0];
	return n + bytes[0];
}

JNIEXPORT jlong JNICALL Java_Bare_plain(JNIEnv *env, jclass class, jlong n)
{
	(void)env;
	(void)class;
	return work(n) + 3;
}

JNIEXPORT jlong JNICALL Java_Bare_variable(JNIEnv *env, jclass class, jlong n)
{
	(void)env;
	(void)class;
	return work_on(n, (size_t)(n & 255) + 16) + 3;
}
