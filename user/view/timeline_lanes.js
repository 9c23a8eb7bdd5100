// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of the timeline: which lanes are shown, in what order, and where. Processes and CPUs
 * are folded at first. All places are in device pixels, because what is painted must meet them
 * exactly.
 */

// px, by kind; of a trace its strip
const HIGH_ROWS = { cpu: 18, process: 18, trace: 24, counter: 30 };
const LOW_ROW = 14; // px, of other kinds
const ROW_GAP = 2; // px between the bars of two rows
const STRIP_HEIGHT = 24; // px, of the lane "parallel" above the rows
const STRIP = "parallel";

/* Return the name of a row as it is shown: with the number of its process or thread. */
function rowLabel({ kind, name, id }) {
	const shown = visible(String(name ?? ""));
	const numbered = ["process", "thread"].includes(kind) && id !== null && id !== undefined;

	return kind === "threads" ? `${shown} ×${Number(id) || 0}`
		: numbered ? `${shown} ${id}` : shown;
}

/* Return the unit and the scale of a counter: what its lowest and its highest pixel are. */
function counterOf({ unit = "", scale = "", bottom, top }) {
	return { unit: String(unit), scale: visible(String(scale)), bottom: Number(bottom) || 0,
		top: Number(top) || 0 };
}

class LaneRow {
	constructor(raw) {
		const { lane, kind, busy, wanted, parts = [], note = "", title } = raw;

		this.lane = String(lane);
		this.kind = kind;
		this.key = kind === "process" ? this.lane.replace(/^p/, "")
			: kind === "trace" ? this.lane : kind === "cpu" ? raw.process ?? "" : "";
		this.label = rowLabel(raw);
		this.sought = this.label.toLowerCase();
		this.busy = busy;
		this.wanted = wanted;
		this.parts = parts.map(String); // lanes of the threads that share the row
		this.counter = kind === "counter" ? counterOf(raw) : null;
		this.note = note; // shown beside the name of a trace
		this.title = title; // the tooltip of a trace
		// rows of a process's threads and runtimes, of a CPU's interrupts, or of a trace
		this.inside = [];
		this.of = null; // row of the process or CPU to which such a row belongs
		this.heading = null; // row of the trace, where there are two
		this.height = HIGH_ROWS[kind] ?? LOW_ROW;
	}

	/* The row whose flame graph a row has: samples belong to threads, not to other lanes. */
	get chosen() {
		return ["process", "thread", "trace"].includes(this.kind) ? this
			: this.of?.kind === "process" ? this.of : null;
	}
}

class LaneRows {
	constructor(list) {
		const outer = new Map();

		this.all = list.map((raw) => new LaneRow(raw));
		this.byLane = new Map(this.all.flatMap((row) =>
			[row.lane, ...row.parts].map((lane) => [lane, row])));
		for (const row of this.all)
			if (row.key)
				outer.set(row.key, row);
		this.all.forEach((row, i) => {
			const key = list[i].process;

			if (row.key || key === null || key === undefined)
				return;
			row.of = outer.get(String(key)) ?? null;
			row.of?.inside.push(row);
		});
		this.findHeadings();
		this.shown = [];
		this.tops = new Int32Array(1);
	}

	/* Two traces have a heading each, above their rows. */
	findHeadings() {
		this.headings = this.all.filter(({ kind }) => kind === "trace");
		let heading = null;

		for (const row of this.all) {
			if (row.kind === "trace")
				heading = row;
			else
				row.heading = heading;
			if (row.heading && !row.of)
				heading.inside.push(row);
		}
	}

	/* The lanes of the strips of CPUs: headings are strips themselves. */
	get strips() {
		return this.headings.length ? this.headings.map(({ lane }) => lane) : [STRIP];
	}

	/* Return the numbers of the rows from first to the one before end, and of all headings. */
	numbers(first, end) {
		const numbers = Array.from({ length: end - first }, (_, i) => first + i);

		return [...new Set([...numbers,
			...this.headings.map((row) => this.shown.indexOf(row))])]
			.sort((a, b) => a - b);
	}

	/* Whether what is inside of a row is shown: traces are open until they are folded. */
	isOpen({ kind, key }) {
		return this.open.has(key) !== (kind === "trace");
	}

	/*
	 * Choose the rows: open has the keys of open processes and of folded traces; sought is a
	 * part of names.
	 */
	arrange(open, sought) {
		const wanted = sought.trim().toLowerCase();
		const matches = (row) => row.sought.includes(wanted);

		this.open = open;
		this.shown = [];
		for (const row of this.all) {
			if (row.kind === "trace")
				this.shown.push(row);
			if (row.kind === "trace" || row.of || row.heading && !wanted &&
				!this.isOpen(row.heading))
				continue;
			const inside = wanted && !matches(row) ? row.inside.filter(matches)
				: open.has(row.key) ? row.inside : [];

			if (!wanted || matches(row) || inside.length)
				this.shown.push(row, ...inside);
		}
		this.place();
	}

	/* Place the rows for a number of device pixels in a px. */
	place(dots = this.dots ?? 1) {
		this.dots = dots;
		this.gap = Math.max(1, Math.round(ROW_GAP * dots));
		this.strip = this.pixels(STRIP_HEIGHT);
		this.tops = new Int32Array(this.shown.length + 1);
		this.shown.forEach((row, i) => {
			this.tops[i + 1] = this.tops[i] + this.pixels(row.height);
		});
	}

	pixels(height) {
		return Math.round(height * this.dots);
	}

	/* Return the height of a lane's bars in device pixels. */
	barOf(lane) {
		return (lane === STRIP ? this.strip
			: this.pixels(this.byLane.get(lane)?.height ?? LOW_ROW)) - this.gap;
	}

	/* Return the scale of a counter. */
	counterOf(lane) {
		return this.byLane.get(lane)?.counter ?? { bottom: 0, top: 0 };
	}

	/* Return the height of all rows in device pixels. */
	get high() {
		return this.tops[this.shown.length];
	}

	/* Return the number of the row at a place in device pixels; -1 above, the count below. */
	at(place) {
		let low = 0, high = this.shown.length;

		if (place < 0)
			return -1;
		while (low < high) {
			const middle = (low + high) >> 1;

			if (this.tops[middle + 1] <= place)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/* Return the number of the first row in a range of places, and that after the last. */
	within(from, to) {
		const first = Math.max(0, this.at(Math.max(0, from)));

		return [first, Math.min(this.shown.length, this.at(Math.max(0, to - 1)) + 1)];
	}
}
