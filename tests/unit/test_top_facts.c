// SPDX-License-Identifier: Apache-2.0
/* The line of facts above the rows of `skein top`. */
#include <string.h>

#include "cmd/top_facts.h"
#include "sample_scene.h"
#include "suite.h"

static struct profile nothing;
static struct recent_window window;
static struct top_facts facts;

static void make(void)
{
	window.profile = &nothing;
	window.account.total.due = 1000;
	window.account.total.written = 900;
	window.account.cpus = 2;
	ck_assert_int_eq(top_facts_collect(&facts, &window, 1, 0.01, false), 0);
}

static unsigned int of(const char *begin, const char *text)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < facts.count; i++) {
		if (strncmp(facts.list[i].text, begin, strlen(begin)))
			continue;
		ck_assert_str_eq(facts.list[i].text, text);
		count++;
	}
	return count;
}

/* Three reasons as three facts left no room for the share of whole stacks in 80 columns. */
START_TEST(losses_are_one_fact)
{
	memset(window.account.lost, 0, sizeof(window.account.lost));
	window.account.lost[LOSS_SKIPPED] = 20;
	window.account.lost[LOSS_LATE_TICK] = 10;
	window.account.lost[LOSS_STOLEN] = 70;
	make();
	ck_assert_uint_eq(of("lost", "lost 3.0 % (skipped)"), 1);
	ck_assert_uint_eq(of("stolen", "stolen 7.0 %"), 1);
	ck_assert_uint_eq(of("none", ""), 0);
}
END_TEST

/* Time that the host took is no loss of this machine's. */
START_TEST(stolen_is_not_lost)
{
	memset(window.account.lost, 0, sizeof(window.account.lost));
	window.account.lost[LOSS_STOLEN] = 70;
	make();
	ck_assert_uint_eq(of("none", "none lost"), 1);
	ck_assert_uint_eq(of("stolen", "stolen 7.0 %"), 1);
}
END_TEST

/* All samples of the scene, with those of idle CPUs that a report leaves out. */
START_TEST(why_stacks_are_incomplete)
{
	struct recent_window w = {.profile = NULL};
	struct error err = {""};
	uint32_t event;

	ck_assert_msg(!profile_read(&w.profile, scene_source(), NULL, &err), "%s", err.text);
	event = profile_event_named(w.profile, NULL);
	ck_assert_int_eq(top_facts_collect(&facts, &w, event, 0, false), 0);
	ck_assert_uint_eq(of("stacks", "stacks 63.8 % complete (16.0 % too deep)"), 1);
	profile_free(w.profile);
}
END_TEST

SUITE("top facts", losses_are_one_fact, stolen_is_not_lost, why_stacks_are_incomplete)
