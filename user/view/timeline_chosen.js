// SPDX-License-Identifier: Apache-2.0
/* Load the flame graph of what is selected, a part of the time and a lane, and say what it is. */

const WHOLE = "the whole recording";
const MOST_STATES = 8; // of which the times are shown
const ENOUGH = 2000; // ms of the server's time after which it reads on only if asked to
const MOST_PARTS = 32; // the same, in answers: other pages may make the server begin again

/* Say of what a profile is that lacks samples: the server reads them in the order of time. */
const partText = ({ share }) =>
	`the first ${Math.max(0, Math.min(99, Math.floor(100 * Number(share) || 0)))} % of `;

/*
 * Return the data of a page without samples. trace: what the server says of the recording, or
 * nothing before that; reason: why there are none.
 */
function dataWithoutSamples({ skein = "", waits = [] }, trace, reason) {
	const strings = ["", trace?.host.name ?? "", trace?.host.kernel ?? "",
		trace?.subject ?? ""];
	const none = { count: 0, parents: "", labels: "", nodes: "", threads: "", events: "",
		counts: "", weights: "" };
	const raw = { subject: 3, infos: [], events: [], losses: [], others: [], processes: [],
		threads: [], labels: [], shortNames: [], commonNames: [], lines: [], nodes: none,
		sums: none, host: { name: 1, kernel: 2, arch: 0, hosts: 1,
			cpus: trace?.host.cpus ?? 0, utc: Number(trace?.start_utc ?? 0),
			duration: trace?.unfinished ? 0 : trace?.length ?? 0 } };

	return { ...readSources({ skein: trace?.skein ?? skein, waits },
		[{ raw, strings, from: 0, to: 0 }], null), reason };
}

/*
 * Return the times of all threads of a report by state, as pairs of the word of a fill and ns, the
 * longest first. Whatever is not a number counts nothing.
 */
function stateTimes(report) {
	const times = new Map();
	const add = (word, time) =>
		Number(time) > 0 && times.set(word, (times.get(word) ?? 0) + Number(time));

	for (const of of report?.sched?.processes ?? []) {
		add("running", of.running);
		add("runnable", of.runnable_woken);
		add("runnable", of.runnable_preempted);
		for (const [word, time] of Object.entries(of.blocked ?? {}))
			add(word === "other" ? "other wait" : word, time);
		for (const word of ["stopped", "unknown"])
			add(word, of[word]);
	}
	return [...times].sort((a, b) => b[1] - a[1]);
}

class Chosen {
	constructor(timeline) {
		this.timeline = timeline;
		this.line = byId("chosen");
		this.states = byId("states");
		this.key = null;
	}

	/* Load what is selected, if it is not what was loaded last. */
	load(range, row) {
		const { pair } = this.timeline.feed;
		const key = `${range ? writeRange(range) : ""} ${row?.lane ?? ""} ` +
			`${range && pair ? pair.by : ""}`;

		if (key === this.key)
			return;
		this.key = key;
		this.control?.abort();
		this.control = new AbortController();
		this.selected = Boolean(range || row);
		this.what = this.text(range, row, pair);
		this.run(this.query(range, row), this.control.signal);
	}

	/* Ask for the same again, after the server had not answered. */
	again() {
		const { range, lane } = this.timeline;

		this.key = null;
		this.load(range, lane);
	}

	query(range, row) {
		const [from, to] = range ? writeRange(range).split("-") : [];
		const time = range ? { from, to } : {}; // without: all of it, whose sums are exact

		if (!row)
			return time;
		return row.kind === "process" ? { ...time, process: row.key }
			: { ...time, lane: row.lane };
	}

	text(range, row, pair) {
		if (!range && !row && !pair)
			return WHOLE;
		const of = [row?.label ?? pair?.names.join(" and "), row?.heading?.label];

		return [range ? rangeText(range) : "all of the time", ...of].filter(Boolean)
			.join(" of ");
	}

	/*
	 * Show the flame graph as it grows. The server's time for it is bounded; then what is there
	 * stays, until somebody wants the rest.
	 */
	async run(query, signal, enough = ENOUGH) {
		const { timeline } = this;

		this.show("Loading the flame graph of ", true);
		try {
			const part = await this.grow(query, signal, enough);

			if (signal.aborted)
				return;
			if (part?.share < 1)
				this.showPart(part, () =>
					this.run(query, signal, part.ms + ENOUGH));
			else
				this.sum(query, signal);
		} catch (error) {
			if (signal.aborted)
				return;
			this.show("Not loaded: ");
			timeline.failed(feedError(error));
		}
	}

	/* Show each answer, until it has all samples or enough time went by; return what it has. */
	async grow(query, signal, enough) {
		const { page, feed, trace } = this.timeline;

		for (let parts = 1; ; parts++) {
			const data = await feed.profile(query, signal), part = data?.part;

			if (signal.aborted)
				return null;
			page.renew(data ?? dataWithoutSamples(page.data, trace,
				`There are no samples in ${this.what}.`));
			byId("main").classList.toggle("no-samples", page.view.count < 2);
			if (!(part?.share < 1)) {
				this.show(data?.instead ?? "");
				return null;
			}
			if (!(part.ms < enough) || parts === MOST_PARTS)
				return part;
			this.show(partText(part), true);
		}
	}

	/* Say that samples are missing, and offer to go on. */
	showPart(part, more) {
		this.show(partText(part));
		this.line.querySelector(".name").after(element("button", { type: "button",
			id: "more-samples", text: "read on", onclick: more,
			title: "The rest takes some seconds more" }));
	}

	/* Show for a selection how its threads spent the time; some servers do not know. */
	async sum(query, signal) {
		const { feed, legend } = this.timeline;

		this.states.hidden = true;
		if (!this.selected)
			return;
		const asked = feed.pair ? feed.reports(query, signal)
			: feed.report(query, signal).then((report) => [["", report]]);
		const reports = await asked.catch(() => []);

		if (signal.aborted)
			return;
		this.states.replaceChildren(...reports.flatMap(([name, report]) =>
			this.chips(name, stateTimes(report), legend)));
		this.states.hidden = !this.states.childElementCount;
	}

	/* Return the times by state, together with a name if there is one. */
	chips(name, times, legend) {
		const whole = times.reduce((sum, [, time]) => sum + time, 0);
		const chips = times.slice(0, MOST_STATES).map(([word, time]) =>
			element("span", { class: "fill", title: percent(time, whole) },
				...legend.swatches(word), span("", visible(word)),
				span("strong", duration(time))));

		return name && whole
			? [element("span", { class: "of-trace" }, span("name", name), ...chips)]
			: chips;
	}

	/* Say what is shown or loaded; while it loads, the old graph is still there. */
	show(before, busy = false) {
		const { selected, timeline: { pairBar } } = this;
		const text = before + this.what, all = () => this.timeline.select(null, "");
		const shown = text.charAt(0).toUpperCase() + text.slice(1) + (busy ? " …" : "");

		this.line.setAttribute("aria-busy", String(busy));
		this.line.hidden = this.what === WHOLE && !before;
		this.states.hidden = true;
		this.line.replaceChildren(span("name", shown), ...selected ? [element("button",
			{ type: "button", id: "show-all", text: "show all", onclick: all })] : [],
		...pairBar.buttons(), this.states);
	}
}
