// SPDX-License-Identifier: Apache-2.0
/* Query the views over the scheduler's records and over Python frames. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "python_scene.h"
#include "suite.h"
#include "trace/trace.h"

static char path[] = "/tmp/skein-views-test-XXXXXX";

#define PUT(kind, ...) ck_assert_int_eq(put_##kind(w, &(struct kind){__VA_ARGS__}, &err), 0)

static void put_names(struct sink *w)
{
	struct error err = {0};

	PUT(host, .id = 1, .cpus = 2, .start = 100);
	PUT(process, .id = 1, .host = 1, .pid = 50, .comm = "shell");
	PUT(process, .id = 2, .host = 1, .pid = 60, .comm = "ls");
	PUT(lane, .id = 1, .host = 1, .kind = LANE_CPU, .number = 7, .name = "CPU 7");
	PUT(lane, .id = 2, .host = 1, .parent = 1, .kind = LANE_INTERRUPT,
	    .number = INTERRUPT_TIMER);
	PUT(lane, .id = 3, .host = 1, .kind = LANE_THREAD, .number = 1);
	PUT(thread, .id = 1, .process = 1, .tid = 50, .start = 100, .comm = "shell", .lane = 3);
	/* A thread forked under its parent's name, which then executes another program. */
	PUT(lane, .id = 4, .host = 1, .kind = LANE_THREAD, .number = 2);
	PUT(thread, .id = 2, .process = 1, .tid = 60, .start = 201, .end = 300, .comm = "shell",
	    .lane = 4);
	PUT(thread, .id = 3, .process = 2, .tid = 60, .start = 300, .comm = "ls", .lane = 4);
}

static void put_records(struct sink *w)
{
	struct error err = {0};

	PUT(slice, .time = 110, .lane = 4, .state = STATE_SLEEPING); /* not a CPU's */
	PUT(edge, .time = 200, .end = 200, .from = 3, .to = 4, .kind = EDGE_FORK, .value = 8);
	PUT(slice, .time = 100, .end = 250, .lane = 1, .state = STATE_RUNNING, .value = 1,
	    .left = STATE_SLEEPING, .wait = WAIT_CHILD);
	PUT(slice, .time = 250, .end = 400, .lane = 1, .state = STATE_RUNNING, .value = 3,
	    .left = STATE_PREEMPTED);
	PUT(edge, .time = 410, .end = 410, .from = 2, .to = 3, .kind = EDGE_WAKEUP);
	PUT(edge, .time = 420, .end = 420, .from = 4, .to = 3, .kind = EDGE_WAKEUP, .value = 1);
	PUT(edge, .time = 430, .end = 430, .from = 1, .to = 1, .kind = EDGE_MIGRATION, .value = 3);
	PUT(edge, .time = 440, .end = 440, .from = 99, .to = 98, .kind = EDGE_WAKEUP);
	PUT(slice, .time = 400, .end = 500, .lane = 1, .state = STATE_IDLE);
}

static void ask(struct trace *t, const char *sql, const char *answer)
{
	struct error err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int result = trace_query(t, sql, QUERY_CSV, out, &err);

	fclose(out);
	ck_assert_msg(!result, "%s: %s", sql, err.text);
	ck_assert_str_eq(text, answer);
	free(text);
}

START_TEST(who_ran_and_who_woke_whom)
{
	struct error err = {0};
	struct sink *w;
	struct trace *t;

	ck_assert_int_eq(close(mkstemp(path)), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(trace_writer(&w, path, &err), 0);
	put_names(w);
	put_records(w);
	ck_assert_int_eq(w->ops->finish(w, &err), 0);
	sink_free(w);
	ck_assert_int_eq(trace_open(&t, path, &err), 0);
	ask(t, "SELECT * FROM running ORDER BY time",
	    "time,end,cpu,pid,tid,process,comm,state,left,wait\r\n"
	    "100,250,7,50,50,shell,shell,running,sleeping,child\r\n"
	    "250,400,7,60,60,ls,ls,running,preempted,\r\n"
	    "400,500,7,,,,,idle,,\r\n");
	ask(t, "SELECT * FROM wakeup ORDER BY time",
	    "time,kind,waker_pid,waker_tid,waker,pid,tid,process,comm,cpu\r\n"
	    "200,fork,50,50,shell,50,60,shell,shell,7\r\n"
	    "410,wake-up,,,timer,50,50,shell,shell,\r\n"
	    "420,wake-up,60,60,ls,50,50,shell,shell,0\r\n"
	    "440,wake-up,,,,,,,,\r\n");
	ask(t,
	    "SELECT tid, sum(\"end\" - time) AS ns FROM running WHERE time >= 100 AND time < 300"
	    " AND state = 'running' GROUP BY tid",
	    "tid,ns\r\n50,150\r\n60,150\r\n");
	trace_close(t);
	unlink(path);
}
END_TEST

static char python_path[] = "/tmp/skein-views-test-XXXXXX";

START_TEST(python_and_sums)
{
	struct error err = {0};
	struct sink *w;
	struct trace *t;

	ck_assert_int_eq(close(mkstemp(python_path)), 0);
	ck_assert_int_eq(unlink(python_path), 0);
	ck_assert_int_eq(trace_writer(&w, python_path, &err), 0);
	ck_assert_int_eq(pipe_join(python_scene_source(), w, &err), 0);
	sink_free(w);
	ck_assert_int_eq(trace_open(&t, python_path, &err), 0);
	ask(t, "SELECT id, name FROM frame_name WHERE id IN (3, 10, 22, 23, 28, 29, 30, 32, 33)",
	    "id,name\r\n3,_PyEval_EvalFrameDefault\r\n10,[libpython3.11.so.1.0]\r\n"
	    "22,Handler.get (main.py:10)\r\n23,Handler.get (main.py:10)\r\n"
	    "28,_find_and_load (<frozen importlib._bootstrap>:1165)\r\n"
	    "29,[python]\r\n30,<lambda> (<string>)\r\n32,nameless\r\n"
	    "33,[truncated: Python frames unreadable]\r\n");
	/* The same thread at the same stack, once during a collection. */
	ask(t, "SELECT thread, count, flags FROM sum WHERE stack = 11 ORDER BY flags",
	    "thread,count,flags\r\n1,10,24\r\n1,5,56\r\n");
	ask(t, "SELECT sum(count), sum(weight), max(flags) FROM sum",
	    "sum(count),sum(weight),max(flags)\r\n100,1000000000,64\r\n");
	trace_close(t);
	unlink(python_path);
}
END_TEST

SUITE("trace views", who_ran_and_who_woke_whom, python_and_sums)
