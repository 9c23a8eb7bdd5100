// SPDX-License-Identifier: Apache-2.0
/* trigger.c, pressure.c, trigger_watch.c: what makes the flight recorder write a trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sched_scene.h"
#include "serve/pressure.h"
#include "serve/trigger_watch.h"
#include "serve/window_files.h"
#include "suite.h"

#define SECOND 1000000000ULL

static struct error err;

/* Every word parses, and what is shown parses to the same. */
START_TEST(parses_and_shows)
{
	static const char *const same[] = {
		"runqueue>20ms",	"runqueue>1500us",	   "pause>2s",
		"cpu-pressure>50%/10s", "io-pressure>0%/1500ms",   "memory-pressure>99%/60s",
		"service-cpu>150%/2s",	"service-cpu(web)>0%/10s", "service-cpu((*)>a)>409600%/1s",
	};
	struct trigger t;
	char shown[TRIGGER_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		ck_assert_msg(trigger_parse(&t, same[i], &err) == 0, "%s", err.text);
		ck_assert_str_eq(trigger_show(&t, shown, sizeof(shown)), same[i]);
		ck_assert(flight_reason_is_valid(trigger_word(t.kind)));
	}
	ck_assert_int_eq(trigger_parse(&t, "runqueue>0.02", &err), 0);
	ck_assert_uint_eq(t.limit, 20 * MS);
	ck_assert_ptr_null(trigger_word(TRIGGER_KIND_COUNT));
}
END_TEST

START_TEST(refuses)
{
	static const struct {
		const char *text, *said;
	} wrong[] = {
		{"", "is no trigger; there are runqueue>TIME"},
		{"runqueue", "in a shell, a trigger stands in quotes: 'runqueue>...'"},
		{"runq>20ms", "is no trigger"},
		{"runqueue>", "''"},
		{"runqueue>0", "more than 0"},
		{"runqueue>soon", "soon"},
		{"cpu-pressure>50%", "such as 50%/10s"},
		{"cpu-pressure>50/10s", "such as 50%/10s"},
		{"cpu-pressure>100%/10s", "such as 50%/10s"},
		{"cpu-pressure>-1%/10s", "such as 50%/10s"},
		{"cpu-pressure>50%/999ms", "1s to 1m"},
		{"cpu-pressure>50%/61s", "1s to 1m"},
		{"cpu-pressure(web)>50%/10s", "is no trigger"},
		{"service-cpu>409601%/10s", "such as 50%/10s"},
		{"service-cpu>50%", "such as 50%/10s"},
		{"service-cpu()>50%/10s", "is no trigger"},
		{"service-cpu(web>50%/10s", "is no trigger"},
		{"service-cpu(web)/10s", "is no trigger"},
		{"service-cpu(0123456789012345678901234567890123456789012345678901234567890123"
		 "0123456789012345678901234567890123456789012345678901234567890123)>1%/1s",
		 "is no trigger"},
	};
	struct trigger t = {.limit = 7};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		err.text[0] = '\0';
		ck_assert_int_eq(trigger_parse(&t, wrong[i].text, &err), -EINVAL);
		ck_assert_msg(strstr(err.text, wrong[i].said) != NULL, "%s: %s", wrong[i].text,
			      err.text);
	}
	ck_assert_uint_eq(t.limit, 7);
}
END_TEST

START_TEST(parses_limits)
{
	static const char *const wrong[] = {"",	     "1",     "1/",	 "0/1m",
					    "-1/1m", "1/1m,", "1001/1h", "1/1s,1/1s,1/1s,1/1s,1/1s",
					    "1/0",   "x/1m",  "1/1mm"};
	struct trigger_limits l = {.count = 9};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ck_assert_msg(trigger_limits_parse(&l, wrong[i], &err) == -EINVAL, "%s", wrong[i]);
	ck_assert_uint_eq(l.count, 9);
	ck_assert_int_eq(trigger_limits_parse(&l, "1/1m,12/1h", &err), 0);
	ck_assert_uint_eq(l.count, 2);
	ck_assert_uint_eq(l.rates[1].count, 12);
	ck_assert_uint_eq(l.rates[1].time, 3600 * SECOND);
}
END_TEST

/*
 * At random times: what is allowed never exceeds a rate in any of its times, and what is refused
 * would exceed one.
 */
START_TEST(limits_hold)
{
	static uint64_t allowed[20000];
	struct trigger_limits l;
	struct trigger_times times = {0};
	uint64_t now = SECOND, refused = 0;
	size_t count = 0;

	ck_assert_int_eq(trigger_limits_parse(&l, "3/5s,10/30s", &err), 0);
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		bool exceeds = false, allows;

		now += (uint64_t)random() % (2 * SECOND);
		for (unsigned int r = 0; r < l.count; r++) {
			size_t within = 0;

			for (size_t k = count; k-- > 0 && allowed[k] + l.rates[r].time > now;)
				within++;
			exceeds |= within >= l.rates[r].count;
		}
		allows = trigger_limits_allow(&l, &times, now);
		ck_assert_int_eq(allows, !exceeds);
		if (allows)
			allowed[count++] = now;
		refused += !allows;
	}
	ck_assert_uint_gt(count, 1000);
	ck_assert_uint_gt(refused, 1000);
	ck_assert_uint_le(times.list.count, 11);
	vector_free(&times.list);
}
END_TEST

/* A file like those of /proc/pressure with a total of waiting, us. */
static void write_pressure(int fd, unsigned long long total)
{
	char text[256];
	int size = snprintf(text, sizeof(text),
			    "some avg10=1.00 avg60=2.00 avg300=3.00 total=%llu\n"
			    "full avg10=0.00 avg60=0.00 avg300=0.00 total=9999999999999\n",
			    total);

	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(pwrite(fd, text, (size_t)size, 0), size);
}

/* Half of the time waited: above 40 % is met once, above 60 % never; again after a quiet time. */
START_TEST(pressure_over_time)
{
	static struct pressure low, high;
	unsigned long long total = 0;
	unsigned int met = 0;

	low = high =
		(struct pressure){.file = memfd_create("pressure", 0), .readings.time = 4 * SECOND};
	for (uint64_t at = 1; at < 400; at++) {
		bool busy = at < 150 || at > 250;

		total += busy ? 50000 : 0;
		write_pressure(low.file, total);
		met += pressure_read(&low, at * SECOND / 10, 40);
		ck_assert(!pressure_read(&high, at * SECOND / 10, 60));
		ck_assert(met == 0 || at > 40); /* not before there is a reading of that age */
	}
	ck_assert_uint_eq(met, 2);
	pressure_close(&low);
	ck_assert(!pressure_read(&low, 100 * SECOND, 0));
}
END_TEST

struct met {
	unsigned int count;
	uint64_t at;
	enum trigger_kind kind;
	char of[64]; /* the services, each with a blank behind it */
};

static void note_met(void *context, const struct trigger *t, const char *of, uint64_t at)
{
	struct met *m = context;
	size_t used = strlen(m->of);

	snprintf(m->of + used, sizeof(m->of) - used, "%s%s", of ? of : "", of ? " " : "");

	m->count++;
	m->at = at;
	m->kind = t->kind;
}

/* A sink that passes everything to a watch. */
struct watching {
	struct sink sink;
	struct trigger_watch *watch;
};

static int put_watched(struct sink *s, enum record_kind kind, const void *record, struct error *e)
{
	return trigger_watch_put(((struct watching *)s)->watch, kind, record, e);
}

static int finish_watched(struct sink *s, struct error *e)
{
	(void)s;
	(void)e;
	return 0;
}

static struct met watch_scene(const char *condition)
{
	static const struct sink_ops ops = {.put = put_watched, .finish = finish_watched};
	struct watching w = {.sink = {&ops, WANT_ALL}};
	struct source *source = sched_scene_source();
	struct met met = {0};
	const struct trigger_events events = {note_met, &met};
	trigger_list list = {0};
	struct trigger t;

	ck_assert_int_eq(trigger_parse(&t, condition, &err), 0);
	ck_assert_int_eq(vector_push(&list, t), 0);
	ck_assert_int_eq(trigger_watch_new(&w.watch, &list, &events, &err), 0);
	ck_assert_msg(pipe_join(source, &w.sink, &err) == 0, "%s", err.text);
	trigger_watch_free(w.watch);
	vector_free(&list);
	return met;
}

/*
 * In the scene, "load" is preempted at 10 ms and runs again at 30 ms, which is the longest wait
 * for a CPU; the next one is of "evil", woken at 55 ms, from 65 to 70 ms and so on.
 */
START_TEST(finds_waits_for_a_cpu)
{
	struct met met = watch_scene("runqueue>19900us");

	ck_assert_uint_eq(met.count, 1);
	ck_assert_uint_eq(met.at, AT(30));
	ck_assert_uint_eq(watch_scene("runqueue>20ms").count, 0);
	ck_assert_uint_gt(watch_scene("runqueue>4ms").count, 1);
}
END_TEST

/* Pauses of a JVM and of Python's collector count, collections of a JVM do not: they may run beside
 * it. */
START_TEST(finds_pauses)
{
	static const struct lane runtime = {.id = 7, .kind = LANE_RUNTIME};
	static const struct lane thread = {.id = 8, .kind = LANE_THREAD};
	static const struct {
		struct span span;
		unsigned int met;
	} spans[] = {
		{{.time = 1, .end = 1 + 11 * MS, .lane = 7, .kind = SPAN_PAUSE}, 1},
		{{.time = 1, .end = 1 + 10 * MS, .lane = 7, .kind = SPAN_PAUSE}, 0},
		{{.time = 1, .end = 1 + 11 * MS, .lane = 7, .kind = SPAN_COLLECTION}, 0},
		{{.time = 1, .end = 1 + 11 * MS, .lane = 8, .kind = SPAN_COLLECTION}, 1},
		{{.time = 1, .end = 0, .lane = 8, .kind = SPAN_COLLECTION}, 0},
		{{.time = 1, .end = 1 + 11 * MS, .lane = 9, .kind = SPAN_COLLECTION}, 0},
		{{.time = 1, .end = 1 + 11 * MS, .lane = 7, .kind = SPAN_SAFEPOINT}, 1},
		{{.time = 1, .end = 1 + 11 * MS, .lane = 8, .kind = SPAN_PROBE}, 0},
	};
	struct trigger_watch *w;
	struct met met = {0};
	const struct trigger_events events = {note_met, &met};
	trigger_list list = {0};
	struct trigger t;

	ck_assert_int_eq(trigger_parse(&t, "pause>10ms", &err), 0);
	ck_assert_int_eq(vector_push(&list, t), 0);
	ck_assert_int_eq(trigger_watch_new(&w, &list, &events, &err), 0);
	ck_assert_int_eq(trigger_watch_put(w, KIND_LANE, &runtime, &err), 0);
	ck_assert_int_eq(trigger_watch_put(w, KIND_LANE, &thread, &err), 0);
	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		met.count = 0;
		ck_assert_int_eq(trigger_watch_put(w, KIND_SPAN, &spans[i].span, &err), 0);
		ck_assert_uint_eq(met.count, spans[i].met);
	}
	trigger_watch_free(w);
	vector_free(&list);
}
END_TEST

/* A service that was watched for a while: which triggers it has met. */
struct service_scene {
	struct trigger_watch *watch;
	trigger_list triggers;
	struct met met;
	struct trigger_events events;
};

static void begin_services(struct service_scene *s, const char *first, const char *second)
{
	struct trigger t;

	*s = (struct service_scene){.events = {note_met, &s->met}};
	ck_assert_int_eq(trigger_parse(&t, first, &err), 0);
	ck_assert_int_eq(vector_push(&s->triggers, t), 0);
	ck_assert_int_eq(trigger_parse(&t, second, &err), 0);
	ck_assert_int_eq(vector_push(&s->triggers, t), 0);
	ck_assert_int_eq(trigger_watch_new(&s->watch, &s->triggers, &s->events, &err), 0);
}

static void end_services(struct service_scene *s)
{
	trigger_watch_free(s->watch);
	vector_free(&s->triggers);
}

/* A control group has been in a state for so long since the source began, ns. */
static void put_use(struct service_scene *s, const char *path, const char *service,
		    enum slice_state state, uint64_t ns)
{
	const struct group_time r = {1, path, state, 0, service, ns, 1};

	ck_assert_int_eq(trigger_watch_put(s->watch, KIND_GROUP_TIME, &r, &err), 0);
}

static void tick_services(struct service_scene *s, uint64_t second)
{
	ck_assert_int_eq(trigger_watch_tick(s->watch, second * SECOND, &err), 0);
}

/*
 * Two groups of the service web take 60 % of a core each, from 20 s to 40 s and from 60 s to 80 s:
 * above 100 % is met twice. Batch has a steady 90 %, and waits a lot, which does not count.
 */
START_TEST(service_uses_cpu)
{
	struct service_scene s;
	uint64_t web = 0, batch = 0;

	begin_services(&s, "service-cpu>100%/5s", "service-cpu(w?b)>130%/5s");
	for (uint64_t at = 100; at < 200; at++) {
		bool busy = (at >= 120 && at < 140) || (at >= 160 && at < 180);

		web += busy ? SECOND * 6 / 10 : SECOND / 10;
		batch += SECOND * 9 / 10;
		put_use(&s, "/a", "web", STATE_RUNNING, web);
		put_use(&s, "/b", "web", STATE_RUNNING, web);
		put_use(&s, "/c", "batch", STATE_RUNNING, batch);
		put_use(&s, "/c", "batch", STATE_RUNNABLE, 10 * batch);
		put_use(&s, "[other]", "", STATE_RUNNING, 4 * batch);
		tick_services(&s, at);
		/* 1.2 s in four of five seconds are not enough, in all of them they are */
		ck_assert_uint_eq(s.met.count, at < 124 ? 0 : at < 164 ? 1 : 2);
	}
	ck_assert_str_eq(s.met.of, "web web ");
	ck_assert_uint_eq(s.met.at, 164 * SECOND);
	end_services(&s);
}
END_TEST

/*
 * A group that is new, or begins at 0 again after it was forgotten: what it ran before that does
 * not count again. It belongs to no service, so its path is its name.
 */
START_TEST(service_comes_and_goes)
{
	struct service_scene s;

	begin_services(&s, "service-cpu>50%/4s", "service-cpu(/new)>80%/4s");
	for (uint64_t at = 100; at < 120; at++)
		tick_services(&s, at);
	for (uint64_t at = 120; at < 124; at++) {
		put_use(&s, "/new", "", STATE_RUNNING, (at - 119) * SECOND);
		tick_services(&s, at);
		/* 2 of 4 s are not more than half, 3 of them are; 4 are above the other limit */
		ck_assert_uint_eq(s.met.count, at < 122 ? 0 : at < 123 ? 1 : 2);
	}
	put_use(&s, "/new", "", STATE_RUNNING, 0);
	for (uint64_t at = 124; at < 300; at++)
		tick_services(&s, at);
	put_use(&s, "/new", "", STATE_RUNNING, SECOND);
	tick_services(&s, 300);
	ck_assert_uint_eq(s.met.count, 2);
	put_use(&s, "/new", "", STATE_RUNNING, 3 * SECOND);
	tick_services(&s, 301);
	ck_assert_uint_eq(s.met.count, 3);
	ck_assert_str_eq(s.met.of, "/new /new /new ");
	end_services(&s);
}
END_TEST

SUITE("triggers", parses_and_shows, refuses, parses_limits, limits_hold, pressure_over_time,
      finds_waits_for_a_cpu, finds_pauses, service_uses_cpu, service_comes_and_goes)
