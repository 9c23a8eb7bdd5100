// SPDX-License-Identifier: Apache-2.0
/* The native methods of Shares.java. */
#include <jni.h>
#include <time.h>

static jlong now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (jlong)t.tv_sec * 1000000000 + t.tv_nsec;
}

JNIEXPORT jlong JNICALL Java_Shares_jni(JNIEnv *env, jclass class, jlong until)
{
	jlong sum = 5;

	(void)env;
	(void)class;
	while (now() < until)
		for (int i = 0; i < 1000; i++)
			sum = sum * 43 + (jlong)((unsigned long)sum >> 11);
	return sum;
}

JNIEXPORT jlong JNICALL Java_Shares_upcall(JNIEnv *env, jclass class, jlong until)
{
	jmethodID called = (*env)->GetStaticMethodID(env, class, "called", "(J)J");

	return called ? (*env)->CallStaticLongMethod(env, class, called, until) : 0;
}
