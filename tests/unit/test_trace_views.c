// SPDX-License-Identifier: Apache-2.0
/* Query the views over the scheduler's records and over Python frames. */
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "python_scene.h"
#include "runtime_scene.h"
#include "suite.h"
#include "trace_file.h"

static void put_names(struct scene *s)
{
	scene_host(s, .id = 1, .cpus = 2, .start = 100);
	scene_process(s, .id = 1, .host = 1, .pid = 50, .comm = "shell");
	scene_process(s, .id = 2, .host = 1, .pid = 60, .comm = "ls");
	scene_lane(s, .id = 1, .host = 1, .kind = LANE_CPU, .number = 7, .name = "CPU 7");
	scene_lane(s, .id = 2, .host = 1, .parent = 1, .kind = LANE_INTERRUPT,
		   .number = INTERRUPT_TIMER);
	scene_lane(s, .id = 3, .host = 1, .kind = LANE_THREAD, .number = 1);
	scene_thread(s, .id = 1, .process = 1, .tid = 50, .start = 100, .comm = "shell", .lane = 3);
	/* A thread forked under its parent's name, which then executes another program. */
	scene_lane(s, .id = 4, .host = 1, .kind = LANE_THREAD, .number = 2);
	scene_thread(s, .id = 2, .process = 1, .tid = 60, .start = 201, .end = 300, .comm = "shell",
		     .lane = 4);
	scene_thread(s, .id = 3, .process = 2, .tid = 60, .start = 300, .comm = "ls", .lane = 4);
}

static void put_records(struct scene *s)
{
	scene_slice(s, .time = 110, .lane = 4, .state = STATE_SLEEPING); /* not a CPU's */
	scene_edge(s, .time = 200, .end = 200, .from = 3, .to = 4, .kind = EDGE_FORK, .value = 8);
	scene_slice(s, .time = 100, .end = 250, .lane = 1, .state = STATE_RUNNING, .value = 1,
		    .left = STATE_SLEEPING, .wait = WAIT_CHILD);
	scene_slice(s, .time = 250, .end = 400, .lane = 1, .state = STATE_RUNNING, .value = 3,
		    .left = STATE_PREEMPTED);
	scene_edge(s, .time = 410, .end = 410, .from = 2, .to = 3, .kind = EDGE_WAKEUP);
	scene_edge(s, .time = 420, .end = 420, .from = 4, .to = 3, .kind = EDGE_WAKEUP, .value = 1);
	scene_edge(s, .time = 430, .end = 430, .from = 1, .to = 1, .kind = EDGE_MIGRATION,
		   .value = 3);
	scene_edge(s, .time = 440, .end = 440, .from = 99, .to = 98, .kind = EDGE_WAKEUP);
	scene_slice(s, .time = 400, .end = 500, .lane = 1, .state = STATE_IDLE);
}

static void build(struct scene *s, const void *unused)
{
	(void)unused;
	put_names(s);
	put_records(s);
}

/* Write the scene as a trace, and open it. */
static struct trace *trace_of(struct source *scene)
{
	files_begin();
	trace_file_write("views.skein", scene);
	return trace_file_open("views.skein");
}

static void ask(struct trace *t, const char *sql, const char *answer)
{
	char *text = trace_file_query(t, sql);

	ck_assert_str_eq(text, answer);
	free(text);
}

START_TEST(who_ran_and_who_woke_whom)
{
	struct scene_source whole = SCENE_OF(build, NULL);
	struct trace *t = trace_of(&whole.source);

	ask(t, "SELECT * FROM running ORDER BY time",
	    "time,end,cpu,pid,tid,process,comm,state,left,wait\n"
	    "100,250,7,50,50,shell,shell,running,sleeping,child\n"
	    "250,400,7,60,60,ls,ls,running,preempted,\n"
	    "400,500,7,,,,,idle,,\n");
	ask(t, "SELECT * FROM wakeup ORDER BY time",
	    "time,kind,waker_pid,waker_tid,waker,pid,tid,process,comm,cpu\n"
	    "200,fork,50,50,shell,50,60,shell,shell,7\n"
	    "410,wake-up,,,timer,50,50,shell,shell,\n"
	    "420,wake-up,60,60,ls,50,50,shell,shell,0\n"
	    "440,wake-up,,,,,,,,\n");
	ask(t,
	    "SELECT tid, sum(\"end\" - time) AS ns FROM running WHERE time >= 100 AND time < 300"
	    " AND state = 'running' GROUP BY tid",
	    "tid,ns\n50,150\n60,150\n");
	trace_close(t);
}
END_TEST

START_TEST(python_and_sums)
{
	struct trace *t = trace_of(python_scene_source());

	ask(t, "SELECT id, name FROM frame_name WHERE id IN (3, 10, 22, 23, 28, 29, 30, 32, 33)",
	    "id,name\n3,_PyEval_EvalFrameDefault\n10,[libpython3.11.so.1.0]\n"
	    "22,Handler.get (main.py:10)\n23,Handler.get (main.py:10)\n"
	    "28,_find_and_load (<frozen importlib._bootstrap>:1165)\n"
	    "29,[python]\n30,<lambda> (<string>)\n32,nameless\n"
	    "33,[truncated: Python frames unreadable]\n");
	/* The same thread at the same stack, once during a collection. */
	ask(t, "SELECT thread, count, flags FROM sum WHERE stack = 11 ORDER BY flags",
	    "thread,count,flags\n1,10,24\n1,5,56\n");
	ask(t, "SELECT sum(count), sum(weight), max(flags) FROM sum",
	    "sum(count),sum(weight),max(flags)\n100,1000000000,64\n");
	trace_close(t);
}
END_TEST

START_TEST(spans_and_counters_in_words)
{
	struct trace *t = trace_of(runtime_scene_source());

	ask(t,
	    "SELECT kind, name, origin, pid, tid, process, thread, lane, length FROM spans"
	    " WHERE kind IN ('pause', 'contended monitor', 'GIL') ORDER BY time",
	    "kind,name,origin,pid,tid,process,thread,lane,length\n"
	    "contended monitor,com.shop.Orders,function,4711,4712,java,order-worker-number-1,"
	    "order-worker-nu,40000000\n"
	    "contended monitor,com.shop.Orders,function,4711,4711,java,main,java,30000000\n"
	    "GIL,GIL,scheduler,5000,5001,python3,python3,python3,20000000\n"
	    "pause,Pause Remark,function,4711,,java,,JVM,1000000\n");
	ask(t,
	    "SELECT count(*), count(length), count(\"end\") AS ends, count(args) FROM spans"
	    " WHERE kind IN ('safepoint', 'VM operation')",
	    "count(*),count(length),ends,count(args)\n12,11,11,5\n");
	ask(t,
	    "SELECT args ->> 'cause' AS cause, count(*) AS n FROM spans WHERE kind = 'collection'"
	    " GROUP BY 1",
	    "cause,n\n,1\nG1 Evacuation Pause,3\nSystem.gc(),1\n");
	ask(t, "SELECT name, value, pid, process, lane FROM counters WHERE name = 'threads'",
	    "name,value,pid,process,lane\nthreads,3,4711,java,java\nthreads,-1,4711,java,java\n");
	trace_close(t);
}
END_TEST

SUITE("trace views", who_ran_and_who_woke_whom, python_and_sums, spans_and_counters_in_words)
