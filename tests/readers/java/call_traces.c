// SPDX-License-Identifier: Apache-2.0
/*
 * A JVMTI agent for JDKs without the Serviceability Agent (-agentpath:FILE=OUTPUT). A thread that
 * gets SIGPROF has HotSpot itself walk its stack in the handler (AsyncGetCallTrace), from the
 * registers of the interrupted code. When the JVM ends, OUTPUT gets a line for each signal,
 *
 *   TID NS COUNT              ns of CLOCK_BOOTTIME; the number of frames, or why there are none
 *
 * and after it COUNT lines with "class.method(signature)line", innermost first.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jvmti.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRACES_MAX 4096
#define FRAMES_MAX 512

struct call_frame {
	jint bci;
	jmethodID method;
};

struct call_trace {
	JNIEnv *env;
	jint count; /* at most 0: why there are no frames */
	struct call_frame *frames;
};

static struct trace {
	int tid, count;
	unsigned long long ns;
	struct call_frame frames[FRAMES_MAX];
} traces[TRACES_MAX];

static atomic_uint taken;
static JavaVM *java;
static jvmtiEnv *jvmti;
static void (*get_call_trace)(struct call_trace *trace, jint depth, void *context);
static char output[512];

static void on_signal(int number, siginfo_t *info, void *context)
{
	unsigned int index = atomic_fetch_add(&taken, 1);
	struct trace *t = &traces[index % TRACES_MAX];
	struct call_trace walk = {.frames = t->frames};
	struct timespec now;

	(void)number, (void)info;
	if (index >= TRACES_MAX)
		return;
	clock_gettime(CLOCK_BOOTTIME, &now);
	t->tid = gettid();
	t->ns = (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
	if ((*java)->GetEnv(java, (void **)&walk.env, JNI_VERSION_1_6) == JNI_OK)
		get_call_trace(&walk, FRAMES_MAX, context);
	t->count = walk.count;
}

static int line_of(const struct call_frame *f)
{
	jvmtiLineNumberEntry *lines;
	jint count;
	int line = 0;

	if ((*jvmti)->GetLineNumberTable(jvmti, f->method, &count, &lines))
		return 0;
	for (int i = 0, begin = -1; i < count; i++) {
		if (lines[i].start_location <= (f->bci < 0 ? 0 : f->bci) &&
		    lines[i].start_location > begin) {
			begin = (int)lines[i].start_location;
			line = lines[i].line_number;
		}
	}
	return line;
}

static void print_frame(FILE *out, const struct call_frame *f)
{
	char *class = "?", *name = "?", *signature = "";
	jclass holder;

	if (!(*jvmti)->GetMethodDeclaringClass(jvmti, f->method, &holder))
		(*jvmti)->GetClassSignature(jvmti, holder, &class, NULL);
	(*jvmti)->GetMethodName(jvmti, f->method, &name, &signature, NULL);
	fprintf(out, "%s %s%s %d\n", class, name, signature, line_of(f));
}

static void JNICALL on_end(jvmtiEnv *env, JNIEnv *jni)
{
	unsigned int count = atomic_load(&taken);
	FILE *out = fopen(output, "w");

	(void)env, (void)jni;
	signal(SIGPROF, SIG_IGN);
	for (unsigned int i = 0; out && i < count && i < TRACES_MAX; i++) {
		fprintf(out, "%d %llu %d\n", traces[i].tid, traces[i].ns, traces[i].count);
		for (int k = 0; k < traces[i].count; k++)
			print_frame(out, &traces[i].frames[k]);
	}
	if (out)
		fclose(out);
}

/* HotSpot has ids only of methods of classes for which they were requested. */
static void JNICALL on_class(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	jmethodID *methods;
	jint count;

	(void)jni, (void)thread;
	if (!(*env)->GetClassMethods(env, class, &count, &methods))
		(*env)->Deallocate(env, (unsigned char *)methods);
}

static void JNICALL on_begin(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	jclass *classes;
	jint count;

	if ((*env)->GetLoadedClasses(env, &count, &classes))
		return;
	for (int i = 0; i < count; i++)
		on_class(env, jni, thread, classes[i]);
	sigaction(SIGPROF, &action, NULL);
}

static void JNICALL on_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	/* HotSpot walks only while this event is enabled */
	(void)env, (void)jni, (void)thread, (void)class;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
					    JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE};
	jvmtiEventCallbacks callbacks = {.VMInit = on_begin,
					 .VMDeath = on_end,
					 .ClassLoad = on_load,
					 .ClassPrepare = on_class};
	jvmtiCapabilities can = {.can_get_line_numbers = 1};

	(void)reserved;
	java = vm;
	snprintf(output, sizeof(output), "%s", options);
	get_call_trace = (void (*)(struct call_trace *, jint, void *))dlsym(RTLD_DEFAULT,
									    "AsyncGetCallTrace");
	if (!get_call_trace || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11))
		return JNI_ERR;
	(*jvmti)->AddCapabilities(jvmti, &can);
	(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
	for (unsigned int i = 0; i < sizeof(events) / sizeof(*events); i++)
		(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
	return JNI_OK;
}
