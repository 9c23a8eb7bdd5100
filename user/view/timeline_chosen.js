// SPDX-License-Identifier: Apache-2.0
/* Load the flame graph of what is selected, a part of the time and a lane, and say what it is. */

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

class Chosen {
	constructor(timeline) {
		this.timeline = timeline;
		this.line = byId("chosen");
		this.key = null;
	}

	/* Load what is selected, if it is not what was loaded last. */
	load(range, row) {
		const key = `${range ? writeRange(range) : ""} ${row?.lane ?? ""}`;

		if (key === this.key)
			return;
		this.key = key;
		this.control?.abort();
		this.control = new AbortController();
		this.what = this.text(range, row);
		this.run(this.query(range, row), this.control.signal);
	}

	/* Ask for the same again, after the server had not answered. */
	again() {
		const { range, state, rows } = this.timeline;

		this.key = null;
		this.load(range, rows.byLane.get(state.lane));
	}

	query(range, row) {
		const [from, to] = range ? writeRange(range).split("-")
			: [0, this.timeline.trace.length];

		if (!row)
			return { from, to };
		return row.kind === "process" ? { from, to, process: row.key }
			: { from, to, lane: row.lane };
	}

	text(range, row) {
		if (!range && !row)
			return "the whole recording";
		return `${range ? rangeText(range) : "all of the time"}` +
			`${row ? ` of ${row.label}` : ""}`;
	}

	async run(query, signal) {
		const { timeline, timeline: { page, feed, trace } } = this;

		this.show("Loading the flame graph of ", true);
		try {
			const raw = await feed.profile(query, signal);

			if (signal.aborted)
				return;
			page.renew(raw ? readRaw(raw) : dataWithoutSamples(page.data, trace,
				`There are no samples in ${this.what}.`));
			this.show("");
		} catch (error) {
			if (signal.aborted)
				return;
			this.show("Not loaded: ");
			timeline.failed(feedError(error));
		}
	}

	/* Say what is shown or loaded; while it loads, the old graph is still there. */
	show(before, busy = false) {
		const whole = this.what === "the whole recording";
		const text = before + this.what, all = () => this.timeline.select(null, "");
		const shown = text.charAt(0).toUpperCase() + text.slice(1) + (busy ? " …" : "");

		this.line.setAttribute("aria-busy", String(busy));
		this.line.hidden = whole && !before;
		this.line.replaceChildren(span("name", shown), ...whole ? [] : [element("button",
			{ type: "button", id: "show-all", text: "show all", onclick: all })]);
	}
}
