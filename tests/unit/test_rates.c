// SPDX-License-Identifier: Apache-2.0
/* Test recordings of several rates: what they add up to, and what a comparison makes of them. */
#include <string.h>

#include "analyze/diff.h"
#include "analyze/groups.h"
#include "analyze/rates.h"
#include "scene.h"
#include "suite.h"

#define FAST 50000000ULL /* periods, ns */
#define SLOW 250000000ULL

/* Two functions, of which the second one runs while the rate is low. */
static void build(struct scene *s, const void *slow)
{
	const uint64_t period = slow ? SLOW : FAST, share = slow ? 80 : 400;

	scene_host(s, .id = 1, .hostname = "", .kernel = "", .arch = "", .start = 1,
		   .end = 40000000000ULL, .cpus = 1);
	scene_event(s, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns", .period = FAST,
		    .frequency = 20);
	scene_event(s, .id = 6, .host = 1, .name = "cpu-clock", .unit = "ns", .period = SLOW,
		    .frequency = 4);
	scene_process(s, .id = 1, .host = 1, .pid = 1, .comm = "p", .exe = "", .cgroup = "",
		      .container = "", .service = "");
	scene_thread(s, .id = 1, .process = 1, .tid = 1, .comm = "p");
	for (uint64_t i = 1; i <= 2; i++) {
		scene_function(s, .id = i, .name = i == 1 ? "first" : "second", .file = "");
		scene_frame(s, .id = i, .function = i, .kind = FRAME_NATIVE);
		scene_stack(s, .id = i, .frame = i);
	}
	scene_sum(s, .event = 1, .thread = 1, .stack = 1, .count = 400, .weight = 400 * FAST);
	scene_sum(s, .event = slow ? 6 : 1, .thread = 1, .stack = 2, .count = share,
		  .weight = share * period);
	scene_account(s, .event = 1, .due = slow ? 402 : 802, .written = slow ? 400 : 800,
		      .cut_off = 1);
	scene_account(s, .event = 6, .due = slow ? 80 : 0, .written = slow ? 80 : 0);
	scene_loss(s, .id = 1, .host = 1, .event = 1, .cpu = 1, .reason = LOSS_SKIPPED, .count = 1,
		   .weight = FAST);
}

static struct profile *profile_of(bool slow)
{
	static struct scene_source fast_scene = SCENE_OF(build, NULL),
				   slow_scene = SCENE_OF(build, "slow");
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, slow ? &slow_scene.source : &fast_scene.source, NULL, &err),
		      "%s", err.text);
	return p;
}

START_TEST(rates_come_from_the_accounts)
{
	struct profile *p = profile_of(true);
	struct sampled_rates rates;

	rates_of_event(&rates, p, 0);
	ck_assert_uint_eq(rates.count, 2);
	ck_assert_uint_eq(rates.list[0].frequency, 20);
	ck_assert_uint_eq(rates.list[0].time, 402 * FAST);
	ck_assert_uint_eq(rates.list[1].frequency, 4);
	ck_assert_uint_eq(rates.list[1].time, 80 * SLOW);
	ck_assert_uint_eq(rates.cpus, 1);
	ck_assert_uint_eq(rates.sampled, 400 * FAST + 80 * SLOW);
	ck_assert_uint_eq(rates.lost, FAST);
	profile_free(p);
	p = profile_of(false);
	rates_of_event(&rates, p, 0);
	ck_assert_uint_eq(rates.count, 1); /* the other one was not used */
	profile_free(p);
}
END_TEST

START_TEST(samples_accounts_and_losses_add_up)
{
	struct profile *p = profile_of(true);
	uint64_t count, weight;
	struct losses losses;

	profile_event_total(p, 0, &count, &weight);
	ck_assert_uint_eq(count, 480);
	ck_assert_uint_eq(weight, 40000000000ULL);
	losses_of_event(&losses, p, 0);
	ck_assert_uint_eq(losses.total.due, 482);
	ck_assert_uint_eq(losses.total.written, 480);
	ck_assert_uint_eq(losses.due, 1);
	ck_assert_int_eq(losses.unexplained, 0);
	profile_free(p);
}
END_TEST

/* Both functions take half of the time in both recordings, whatever the rate. */
START_TEST(a_lower_rate_is_no_change)
{
	struct profile *p[2] = {profile_of(false), profile_of(true)};
	struct diff_run runs[2] = {{.profile = p[0], .time = 40000000000ULL},
				   {.profile = p[1], .time = 40000000000ULL}};
	struct diff_side sides[2] = {{&runs[0], 1}, {&runs[1], 1}};
	struct diff d = {0};

	ck_assert_int_eq(
		diff_make(&d, sides, &(struct diff_criteria){DIFF_BY_FUNCTION, DIFF_SHARE, 0}), 0);
	ck_assert_uint_eq(d.rows.count, 2);
	for (size_t i = 0; i < d.rows.count; i++) {
		const struct diff_change *c = &d.rows.items[i].cost[DIFF_SELF];

		ck_assert_double_eq_tol(c->value[0], 50, 1e-9);
		ck_assert_double_eq_tol(c->value[1], 50, 1e-9);
		/* as many samples as have the same variance: 40^2 / (400 / 20^2 + 80 / 4^2) */
		ck_assert_uint_eq(c->count[1], 133);
		ck_assert_uint_eq(c->count[0], 400);
	}
	diff_free(&d);
	profile_free(p[0]);
	profile_free(p[1]);
}
END_TEST

SUITE("rates", rates_come_from_the_accounts, samples_accounts_and_losses_add_up,
      a_lower_rate_is_no_change)
