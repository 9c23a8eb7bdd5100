// SPDX-License-Identifier: Apache-2.0
/*
 * Mark on the lanes where the functions ran that are searched for. The search is that of the flame
 * graph. A mark is as high as the share of the samples there that have the function: its highest
 * pixels are marked only if all have, and its lowest if any has.
 */

const MARK_COLUMNS = 4096; // most columns of an answer
const MARK_WIDE = 3; // px of a column, so that a single mark is seen
const MARK_WAIT = 150; // ms without a move or a letter after which marks are asked for
const MARK_HIGH = 7; // px of a mark where all samples have the function
const ALL_FOUND = 63; // level of all samples; 0 is none, as in user/cmd/view_marks.c
const LEVEL_LETTER = 48; // of level 0
const REFINED = 8; // most steps towards the exact time of a mark

/* The marks of a part of the time. */
class MarkLayer {
	constructor({ from, to }, answer) {
		const { columns, lanes } = answer;

		this.from = from;
		this.to = to;
		this.answer = answer;
		this.columns = Math.max(1, Math.min(MARK_COLUMNS, Number(columns) || 1));
		this.each = (to - from) / this.columns; // ns of a column
		this.lanes = new Map(lanes.map(([lane, first, levels]) =>
			[String(lane), { first: Number(first) || 0, levels: String(levels) }]));
		this.any = new Uint8Array(this.columns); // 1 where a lane has a mark
		for (const { first, levels } of this.lanes.values())
			for (let i = 0; i < levels.length; i++)
				if (levels.charCodeAt(i) > LEVEL_LETTER)
					this.any[first + i] = 1;
	}

	/* Return the level of a lane in a column. */
	level(lane, column) {
		const { first, levels } = this.lanes.get(lane) ?? { first: 0, levels: "" };
		const level = levels.charCodeAt(column - first) - LEVEL_LETTER;

		return level > 0 ? Math.min(ALL_FOUND, level) : 0;
	}

	column(time) {
		return Math.floor((time - this.from) / this.each);
	}

	/* Return the next column with a mark after or before one; -1 if there is none. */
	next(column, step) {
		for (let at = Math.max(-1, Math.min(this.columns, column)) + step;
			at >= 0 && at < this.columns; at += step)
			if (this.any[at])
				return at;
		return -1;
	}

	middle(column) {
		return this.from + (column + 0.5) * this.each;
	}

	covers({ from, to }) {
		return this.from <= from && this.to >= to;
	}
}

/* Return the height of a mark in pixels, so that none, some and all differ by at least least. */
const markHeight = (level, high, least) => !level ? 0 : level >= ALL_FOUND ? high
	: Math.min(high - least, Math.max(least, Math.round(level * high / ALL_FOUND)));

class FoundMarks {
	constructor(timeline) {
		const on = (id, type, run) => byId(id).addEventListener(type, run);

		this.timeline = timeline;
		this.line = byId("found");
		this.canvas = document.createElement("canvas");
		this.text = this.key = "";
		this.forget();
		on("find", "input", (event) => timeline.page.search(event.target.value));
		on("find", "keydown", (event) => {
			if (event.key === "Enter")
				this.go(event.shiftKey ? -1 : 1);
		});
		on("mark-next", "click", () => this.go(1));
		on("mark-before", "click", () => this.go(-1));
	}

	/* Forget the marks of another search. */
	forget() {
		clearTimeout(this.waiting);
		this.waiting = undefined;
		this.control?.abort();
		this.control = null;
		this.near = this.whole = null; // layers of what is shown, and of all of the time
		this.asked = this.painted = "";
		this.at = null; // ns: the mark that was gone to
	}

	/* The event whose samples are marked: the one that is shown; undefined: the usual one. */
	get event() {
		const { event } = this.timeline.page.view ?? {};

		return !event || event.of === OF.wall || !event.name ? undefined : event.name;
	}

	/* What is searched for, and on which lanes. */
	show({ search }) {
		const { by } = this.timeline, key = `${search} ${this.event} ${by}`;

		if (document.activeElement !== byId("find"))
			byId("find").value = search;
		if (key === this.key)
			return;
		this.key = key;
		this.text = search;
		this.forget();
		this.say(search ? "…" : "", Boolean(search));
	}

	say(text, busy = false) {
		this.line.textContent = text;
		this.line.setAttribute("aria-busy", String(busy));
		for (const id of ["mark-next", "mark-before"])
			byId(id).disabled = !this.whole?.lanes.size;
	}

	/* Ask for what is shown, if it is not there, as soon as nobody moves. */
	request() {
		const { view, trace, picture } = this.timeline;
		const range = { from: Math.floor(view.from), to: Math.ceil(view.to) };
		const key = `${writeRange(range)} ${Math.floor(picture.wide)}`;

		// until the first flame graph is there, it is not known whose samples are marked
		const early = !this.event &&
			this.timeline.chosen.line.getAttribute("aria-busy") === "true";

		if (!this.text || key === this.asked || !(picture.wide > 0) || early)
			return;
		this.asked = key;
		clearTimeout(this.waiting);
		this.waiting = setTimeout(() => {
			this.control?.abort();
			this.control = new AbortController();
			this.load(range, { from: 0, to: trace.length }, this.control.signal);
		}, MARK_WAIT);
	}

	ask({ from, to }, signal) {
		const columns = Math.max(1, Math.min(MARK_COLUMNS,
			Math.floor(this.timeline.picture.wide / MARK_WIDE), to - from));

		return this.timeline.feed.marks({ text: this.text, event: this.event,
			by: this.timeline.by || undefined, from, to, columns }, signal);
	}

	/* Load what is shown, and then all of it, which says where the marks beyond are. */
	async load(range, all, signal) {
		const isAll = range.from <= all.from && range.to >= all.to;

		this.line.setAttribute("aria-busy", "true");
		try {
			const near = new MarkLayer(range, await this.ask(range, signal));

			if (signal.aborted)
				return;
			this.near = near;
			if (isAll)
				this.whole = near;
			this.showCount();
			if (!this.whole) {
				const whole = new MarkLayer(all, await this.ask(all, signal));

				if (signal.aborted)
					return;
				this.whole = whole;
				this.showCount();
			}
		} catch (error) {
			if (!signal.aborted)
				this.failed(feedError(error));
		}
	}

	failed(error) {
		if (error.kind === "refused")
			this.say(error.message);
		else
			this.timeline.failed(error);
	}

	/* Say how many samples have the function in what is shown. */
	showCount() {
		const { known, found, samples, threads, share, left_out: left } = this.near.answer;
		const parts = [`${count(found)} of ${plural(samples, "sample")} shown, ` +
			plural(threads, "thread")];

		if (share < 1)
			parts.push(`only the first ${Math.floor(100 * share)} % were looked at: ` +
				"a shorter range has all");
		if (left)
			parts.push(`${plural(left, "lane")} had no room for marks`);
		byId("find").setAttribute("aria-invalid", String(!known));
		this.say(known ? parts.join("; ") : "no function has such a name");
		this.timeline.ask();
	}

	/* Draw the marks of visible rows, and the line at the one that was gone to. */
	draw(picture, pen) {
		const layers = [this.near, this.whole].filter(Boolean);
		const layer = layers.find((one) => one.covers(this.timeline.view)) ?? layers.at(-1);

		if (!layer || !this.text)
			return;
		this.paint(picture, layer);
		pen.save();
		pen.setTransform(1, 0, 0, 1, 0, 0);
		pen.imageSmoothingEnabled = false;
		const left = picture.place(layer.from), right = picture.place(layer.to);
		const high = Math.round(picture.dots * MARK_HIGH);

		for (const [i, [, bottom]] of this.places.entries())
			pen.drawImage(this.canvas, 0, i * high, layer.columns, high,
				left, bottom - high, right - left, high);
		if (this.at !== null) {
			pen.fillStyle = MARKS[picture.theme].found;
			pen.fillRect(Math.round(picture.place(this.at)), 0,
				Math.max(1, Math.round(picture.dots)), pen.canvas.height);
		}
		pen.restore();
	}

	/* Paint the marks of visible rows, if others are painted. */
	paint(picture, layer) {
		const { rows } = this.timeline, [first, end] = picture.visible();
		const high = Math.round(picture.dots * MARK_HIGH);
		const shown = rows.shown.slice(first, end)
			.filter(({ lane }) => layer.lanes.has(lane));
		const key = [layer.from, layer.to, picture.theme, high,
			...shown.map(({ lane }) => lane)].join();

		this.places = shown.map((row) => [row.lane, rows.tops[rows.shown.indexOf(row)] +
			rows.barOf(row.lane) - picture.scrolled]);
		if (this.painted === key && this.paintedLayer === layer)
			return;
		this.painted = key;
		this.paintedLayer = layer;
		this.canvas.width = layer.columns;
		this.canvas.height = Math.max(1, shown.length * high);
		const least = Math.max(1, Math.round(2 * picture.dots));
		const image = new ImageData(layer.columns, this.canvas.height);
		const pixels = new Uint32Array(image.data.buffer);
		const colours = { mark: pixelOf(partsOf(MARKS[picture.theme].found)),
			paper: pixelOf(partsOf(THEMES[picture.theme].paper)) };

		for (const [i, { lane }] of shown.entries())
			this.paintLane(pixels, layer, lane, { at: i * high, high, least, colours });
		this.canvas.getContext("2d").putImageData(image, 0, 0);
	}

	/* A mark stands on paper, so that it is seen above any colour. */
	paintLane(pixels, layer, lane, { at, high, least, colours: { mark, paper } }) {
		const { first, levels } = layer.lanes.get(lane), { columns } = layer;

		for (let x = first; x < Math.min(columns, first + levels.length); x++) {
			const marked = markHeight(layer.level(lane, x), high, least);

			for (let y = 0; marked && y < high; y++)
				pixels[(at + y) * columns + x] = y < high - marked ? paper : mark;
		}
	}

	/* Go to the next or previous moment with a mark, and to a row that has it. */
	async go(step) {
		const { timeline, near, whole } = this;

		if (!whole?.lanes.size)
			return;
		const { view } = timeline, from = this.at ?? (step > 0 ? view.from : view.to);
		const inside = near.covers(view) && from >= view.from && from <= view.to
			? near.next(this.at === null && step > 0 ? -1
				: this.at === null ? near.columns : near.column(from), step) : -1;

		if (inside >= 0) {
			this.goTo(near, inside);
			return;
		}
		const edge = near.covers(view) ? step > 0 ? Math.max(from, view.to - 1)
			: Math.min(from, view.from) : from;
		const column = whole.next(whole.column(edge), step);

		if (column < 0) {
			this.speak(`no mark ${step > 0 ? "after" : "before"} this one`);
			return;
		}
		await this.goBeyond(whole, column, step);
	}

	/* Find the exact place of a mark outside of what is shown, and show it there. */
	async goBeyond(layer, column, step) {
		const { timeline, timeline: { view } } = this, span = view.to - view.from;
		const wanted = MARK_WIDE * span / timeline.picture.wide, key = this.key;
		let at = layer, found = column;

		try {
			for (let i = 0; i < REFINED && at.each > wanted && at.each > 2; i++) {
				const range = { from: Math.floor(at.from + found * at.each),
					to: Math.ceil(at.from + (found + 1) * at.each) };

				at = new MarkLayer(range,
					await this.ask(range, this.control?.signal));
				found = at.next(step > 0 ? -1 : at.columns, step);
				if (found < 0 || this.key !== key)
					return;
			}
		} catch (error) {
			if (this.key === key && error.name !== "AbortError")
				this.failed(feedError(error));
			return;
		}
		timeline.setView(at.middle(found) - span / 2, at.middle(found) + span / 2);
		this.goTo(at, found);
	}

	goTo(layer, column) {
		const { timeline, timeline: { rows } } = this;
		const has = (row) => row && layer.level(row.lane, column) > 0;
		const current = rows.shown[timeline.current];
		const row = has(current) ? current
			: rows.shown.find((one) => one.kind !== "cpu" && has(one)) ??
				rows.shown.find(has);

		this.at = layer.middle(column);
		if (row)
			timeline.goTo(rows.shown.indexOf(row));
		this.speak(`${momentText(this.at, layer.each)}${row ? `, ${row.label}` : ""}`);
		timeline.ask();
	}

	speak(text) {
		byId("timeline-spoken").textContent = text;
	}
}
