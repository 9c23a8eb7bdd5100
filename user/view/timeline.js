// SPDX-License-Identifier: Apache-2.0
/*
 * The timeline of a recording that `skein view` serves: what part of the time it shows, what is
 * selected in it, and what is asked of the server for that.
 */

const SHORTEST_VIEW = 1000; // ns
const WIDEST_LAYER = 8192; // columns of an answer
const MOST_LANES = 200; // lanes of one request
const MARGIN = 0.5; // share of what is shown that is asked for at each side, too
const MORE_ROWS = 0.3; // the same for rows above and below
const SETTLED = 300; // ms without a move after which the address has the view
const KEY_PAN = 0.2, KEY_ZOOM = 1.5;
const AROUND_SLICE = 0.6; // share of a slice that is shown at each side of it

const UNFINISHED = "The recording was not finished: it has what was written until then.";
const NOTICES = {
	token: "Open the address that skein view printed: this one lacks its token.",
	gone: "skein view has ended: start it again.",
};

class Timeline {
	constructor(page) {
		this.page = page;
		this.feed = page.feed;
		this.host = byId("timeline");
		this.trace = null;
		this.rows = new LaneRows([]);
		this.view = { from: 0, to: 1 };
		this.written = ""; // the view as the address has it
		this.current = -1; // number of the row that the keys are at
		this.range = this.dragged = this.cursor = null;
		this.picture = new LanePicture(this);
		this.names = new LaneNames(this);
		this.legend = new FillLegend(this);
		this.windows = new Windows(this.feed, (layer) => this.arrived(layer),
			(error) => this.failed(error));
		this.slice = new SlicePanel(this);
		this.chosen = new Chosen(this);
		this.found = new FoundMarks(this);
		this.input = new LaneInput(this);
		this.splitter = new Splitter(this);
		this.pairBar = new PairBar(this);
		this.listen();
	}

	get state() {
		return this.page.state;
	}

	/* The row of the selected lane; undefined if there is none. */
	get lane() {
		const row = this.rows.byLane.get(this.state.lane) ??
			this.pairBar.heading(this.state.lane);

		return row?.chosen === row ? row : undefined;
	}

	listen() {
		const on = (id, type, run) => byId(id).addEventListener(type, run);

		on("nearer", "click", () => this.zoom(1 / KEY_ZOOM, this.middle));
		on("farther", "click", () => this.zoom(KEY_ZOOM, this.middle));
		on("whole", "click", () => this.zoomOut());
		on("lane-filter", "input", (event) =>
			this.page.change({ lanes: event.target.value }, true));
		on("lanes-by", "change", (event) => this.chooseLanes(event.target.value));
		on("retry", "click", () => this.retry());
		addEventListener("hashchange", () => {
			if (this.feed.takeToken())
				this.retry();
		});
	}

	/* Ask what the recording is, then show it; the page stands already. */
	async begin() {
		try {
			this.take(await this.feed.trace());
		} catch (error) {
			if (!this.feed.loaded)
				this.page.renew(dataWithoutSamples({}, null, "Nothing is loaded."));
			this.failed(feedError(error));
		}
	}

	take(trace) {
		this.trace = { ...trace, length: Math.max(1, Number(trace.length) || 1) };
		this.takeRows(trace);
		this.windows.clear();
		this.recolour();
		this.host.hidden = byId("splitter").hidden = !trace.rows.length;
		const warnings = [trace.warning, trace.unfinished && UNFINISHED].filter(Boolean);

		byId("trace-warning").hidden = !warnings.length;
		byId("trace-warning").textContent = warnings.map(visible).join(" ");
		this.written = null; // so that the address's view is shown
		this.page.renew(this.feed.loaded ??
			dataWithoutSamples(this.page.data, trace, "Loading …"));
	}

	/* Leave the page to a comparison, which has no timeline; or come back after it. */
	yield(on) {
		if (!this.trace)
			return;
		this.host.hidden = byId("splitter").hidden = on || !this.trace.rows.length;
		byId("chosen").hidden = true;
		this.chosen.key = " "; // what is shown is that of the whole recording
	}

	/* Show other rows; a lane has the same name in all choices, so what is painted stays. */
	takeRows({ rows, choices = [], by = "" }) {
		const { dots } = this.rows, select = byId("lanes-by");

		this.rows = new LaneRows(rows);
		this.rows.dots = dots;
		this.by = by;
		this.arranged = undefined;
		byId("lanes-by-label").hidden = choices.length < 2;
		select.replaceChildren(...choices.map((word) =>
			element("option", { value: word, text: visible(String(word)) })));
		select.value = by;
	}

	/* Ask for the rows of the address's choice of lanes, if others are shown. */
	async chooseRows({ by: word }) {
		const { choices = [], usual = "" } = this.trace;
		const by = choices.includes(word) ? word : usual;

		if (by === (this.wantsBy ?? this.by))
			return;
		this.wantsBy = by;
		try {
			const trace = await this.feed.trace(by);

			if (this.wantsBy !== by)
				return; // another one was chosen meanwhile
			this.takeRows(trace);
			this.show(this.state);
		} catch (error) {
			this.failed(feedError(error));
		}
		if (this.wantsBy === by)
			this.wantsBy = undefined;
	}

	/* The flame graph of a thread's lane goes with the lane; that of a process stays. */
	chooseLanes(by) {
		const kept = this.lane?.kind === "process" ? this.state.lane : "";

		this.page.change({ by: by === this.trace.usual ? "" : by, lane: kept });
	}

	/* Try again whatever the server did not answer, if it answers now. */
	async retry() {
		try {
			const trace = await this.feed.trace();

			byId("feed-notice").hidden = true;
			this.broken = false;
			if (!this.trace)
				this.take(trace);
		} catch (error) {
			this.failed(feedError(error));
			return;
		}
		if (this.chosen.line.textContent.startsWith("Not loaded"))
			this.chosen.again();
		this.ask();
	}

	/* Say what went wrong: in a line, or in a notice where nothing works any more. */
	failed({ kind, message }) {
		const notice = NOTICES[kind] ?? (this.trace ? "" : message);

		this.broken = true;
		if (notice) {
			byId("feed-notice").hidden = false;
			byId("notice-text").textContent = notice;
			byId("retry").hidden = kind !== "gone";
		} else {
			byId("feed-line").textContent = message;
			this.broken = !this.trace;
		}
	}

	/* Show the state of the address. */
	show(state) {
		if (!this.trace)
			return;
		this.chooseRows(state);
		this.pairBar.show(state);
		const { length } = this.trace, arranged = `${state.open} ${state.lanes}`;

		if (state.view !== this.written) {
			clearTimeout(this.settling);
			this.settling = undefined;
			this.written = state.view;
			this.view = this.limited(parseRange(state.view, length) ??
				{ from: 0, to: length });
		}
		if (arranged !== this.arranged) {
			this.arranged = arranged;
			this.arrange(state);
		}
		this.range = parseRange(state.range, length);
		if (document.activeElement !== byId("lane-filter"))
			byId("lane-filter").value = state.lanes;
		this.chosen.load(this.range, this.lane);
		this.found.show(state);
		this.ask();
	}

	/* Choose the rows again; the current one stays the same lane. */
	arrange(state) {
		const lane = this.rows.shown[this.current]?.lane;

		this.rows.arrange(new Set(state.open.split(".")), state.lanes);
		this.current = this.rows.shown.findIndex((row) => row.lane === lane);
	}

	/* Draw with the next frame of the screen, and ask for what is missing. */
	ask() {
		this.asked ??= requestAnimationFrame(() => {
			this.asked = undefined;
			if (!this.trace?.rows.length)
				return;
			this.promote();
			this.picture.draw();
			this.showRange();
			if (!this.broken) {
				this.request();
				this.found.request();
			}
		});
	}

	/* Return a range that is not longer than the recording, inside of it, in whole ns. */
	limited({ from, to }) {
		const { length } = this.trace;
		const span = Math.min(length, Math.max(SHORTEST_VIEW, to - from));
		const middle = (from + to) / 2;
		const begin = Math.max(0, Math.min(length - span, middle - span / 2));

		return { from: begin, to: begin + span };
	}

	setView(from, to) {
		this.view = this.limited({ from, to });
		clearTimeout(this.settling);
		this.settling = setTimeout(() => this.settle(), SETTLED);
		this.ask();
	}

	/* Return the view as the address has it: nothing for the whole recording. */
	viewText() {
		const { view: { from, to }, trace: { length } } = this;

		return from <= 0 && to >= length ? "" : writeRange({ from, to });
	}

	/* Write the view into the address, and say it to screen readers. */
	settle() {
		this.settling = undefined;
		this.written = this.viewText();
		this.page.change({ view: this.written }, true);
		this.speak();
	}

	get middle() {
		return this.cursor ?? (this.view.from + this.view.to) / 2;
	}

	/* Zoom by a factor, so that a time stands at a share of the width, or where it stood. */
	zoom(factor, time, share = (time - this.view.from) / (this.view.to - this.view.from)) {
		const { length } = this.trace, now = this.view.to - this.view.from;
		const span = Math.min(length, Math.max(SHORTEST_VIEW, now * factor));
		const from = Math.max(0, Math.min(length - span, time - share * span));

		this.setView(from, from + span);
	}

	/* Move by ns, as far as the recording goes. */
	pan(by) {
		const { from, to } = this.view;
		const step = Math.max(-from, Math.min(this.trace.length - to, by));

		this.setView(from + step, to + step);
	}

	zoomOut() {
		this.setView(0, this.trace.length);
	}

	/* Return the range to ask for: what is shown and a margin, a column a device pixel. */
	wanted() {
		const { from, to } = this.view, { columns } = this.picture, span = to - from;
		const share = Math.min(MARGIN, (WIDEST_LAYER / columns - 1) / 2);
		const first = Math.max(0, Math.floor(from - share * span));
		const end = Math.min(this.trace.length, Math.ceil(to + share * span));

		return { from: first, to: end,
			columns: Math.max(1, Math.round((end - first) / span * columns)) };
	}

	/* Return whether a layer's columns are device pixels now, and whether it has enough. */
	isExact(layer) {
		const { view: { from, to }, picture: { columns }, trace: { length } } = this;
		const edge = (to - from) * MARGIN / 4;

		return Math.abs(layer.each * columns / (to - from) - 1) * columns < 0.5 &&
			layer.from <= Math.max(0, from - edge) &&
			layer.to >= Math.min(length, to + edge);
	}

	/* Show layers that are exact again, after a zoom in and out, above those between. */
	promote() {
		const { windows } = this, exact = windows.layers.find((one) => this.isExact(one));

		if (exact && exact.key !== windows.current.key) {
			windows.promote(exact.key);
			this.showFills();
		}
	}

	/* Ask for the visible lanes that the exact layers lack. */
	request() {
		const { windows, rows, picture } = this;
		const range = windows.current && this.isExact(windows.current)
			? windows.current : this.wanted();
		const missing = (more) => {
			const [first, end] = picture.visible(more);

			return [...new Set([...rows.strips,
				...rows.shown.slice(first, end).map(({ lane }) => lane)])]
				.filter((lane) => !windows.expects(range, lane))
				.slice(0, MOST_LANES);
		};

		if (!missing(0).length)
			return;
		const { from, to, columns } = range;

		windows.want({ from, to, columns, lanes: missing(MORE_ROWS) });
	}

	arrived(layer) {
		layer.paint(this.rows, this.colours);
		byId("feed-line").textContent = layer.partial
			? "Some of it is missing: the server had too little time." : "";
		this.showFills();
		this.ask();
	}

	/* Show the words of the fills of the newest layers. */
	showFills() {
		const { layers, current } = this.windows, used = new Uint8Array(256);

		for (const layer of layers)
			if (layer.key === current.key)
				layer.used?.forEach((one, number) => { used[number] |= one; });
		this.legend.show(used);
	}

	/* Paint all again in the colours of the theme. */
	recolour() {
		if (!this.trace)
			return;
		this.colours = new LaneColours(this.trace.fills, this.page.palette.name,
			this.trace.fill_of);
		this.repaint();
	}

	repaint() {
		for (const layer of this.windows.layers)
			layer.paint(this.rows, this.colours);
		if (this.windows.current)
			this.showFills();
		this.ask();
	}

	/* Say how long a part of the time is shown. */
	showRange() {
		byId("span").textContent =
			`${rangeText(this.view)} (${duration(this.view.to - this.view.from)})`;
	}

	speak() {
		const row = this.rows.shown[this.current];

		byId("timeline-spoken").textContent = rangeText(this.view) +
			`${row ? `, ${row.label}` : ""}`;
	}

	/* Move the line at the pointer; x is in px, null without a pointer. */
	point(x) {
		const cursor = x === null || !this.trace ? null : this.picture.time(x);

		if (cursor === this.cursor)
			return;
		this.cursor = cursor;
		this.ask();
	}

	/* Show a selection that is being made: two times, or null if it is given up. */
	drag(times) {
		this.dragged = times && parseRange(writeRange({
			from: Math.max(0, Math.min(...times)), to: Math.max(...times) }),
		this.trace.length);
		this.ask();
	}

	/* Select what was dragged over; a click on the axis selects nothing. */
	endDrag(moved) {
		const range = this.dragged;

		this.dragged = null;
		this.select(moved && range ? range : null, this.state.lane);
	}

	/* Select a part of the time (null for all of it), and a lane ("" for all). */
	select(range, lane) {
		clearTimeout(this.settling);
		this.settling = undefined;
		this.written = this.viewText();
		this.page.change({ range: range ? writeRange(range) : "", lane,
			view: this.written });
		this.ask();
	}

	/* Select the lane of a row, or all of them if it is the selected one. */
	selectLane({ chosen }) {
		if (chosen)
			this.select(this.range, chosen === this.lane ? "" : chosen.lane);
		this.speak();
		this.ask();
	}

	/* Fold a process out, or back. */
	toggle(row) {
		const open = new Set(this.rows.open);

		if (!row.inside.length || !open.delete(row.key))
			open.add(row.key);
		open.delete("");
		this.page.change({ open: [...open].join(".") }, true);
	}

	/* Show the details of what is at px from the corner. */
	lookAt(x, y) {
		const number = this.picture.row(y);

		this.looked = null;
		if (number < 0) {
			this.slice.close();
			return;
		}
		const row = this.rows.shown[number];

		this.current = number;
		if (row.kind === "trace") {
			this.picture.goToTrace(row);
			return;
		}
		if (row.kind === "process") { // its threads did something, each for itself
			if (!this.rows.open.has(row.key))
				this.toggle(row);
			return;
		}
		this.slice.side(x > this.picture.wide / 2);
		this.looked = this.slice.look(row.lane, this.picture.time(x));
		this.ask();
	}

	/* Zoom to the selection if that is there, else to the slice that was clicked at. */
	async zoomToWhatIsAt(x) {
		const time = this.picture.time(x), { range } = this;

		if (range && time >= range.from && time < range.to) {
			this.setView(range.from, range.to);
			return;
		}
		const shown = await this.looked, span = shown ? shown.to - shown.from : 0;
		const edge = AROUND_SLICE * span;

		if (span > 0)
			this.setView(shown.from - edge, shown.to + edge);
	}

	/* Make a lane visible: open its process, and scroll to it. */
	reveal(lane) {
		const row = this.rows.byLane.get(lane);

		if (!row)
			return;
		if (!this.rows.shown.includes(row) && this.state.lanes)
			this.page.change({ lanes: "" }, true);
		for (const around of [row.heading, row.of])
			if (around && !this.rows.isOpen(around))
				this.toggle(around);
		this.goTo(this.rows.shown.indexOf(row));
	}

	/* Make a row the current one, and scroll until it is visible. */
	goTo(number) {
		const { rows, picture: { scroller, dots = 1 } } = this;

		if (!rows.shown[number])
			return;
		const [above, below] = this.picture.covered(rows.shown[number]);
		const top = rows.tops[number] / dots - above;
		const bottom = rows.tops[number + 1] / dots + below;

		this.current = number;
		if (top < scroller.scrollTop)
			scroller.scrollTop = top;
		else if (bottom > scroller.scrollTop + scroller.clientHeight)
			scroller.scrollTop = bottom - scroller.clientHeight;
		this.speak();
		this.ask();
	}

	/* Whether keys belong to the timeline: it has the focus. */
	holds(target) {
		return !this.host.hidden && this.host.contains(target);
	}

	/* Go back by one step: close the details, then select nothing. */
	escape() {
		if (this.slice.shown)
			this.slice.close(true);
		else if (this.range || this.state.lane)
			this.select(null, "");
		else
			this.page.back();
	}

	keyPan(share) {
		this.pan(share * KEY_PAN * (this.view.to - this.view.from));
	}

	/* Show what the current lane did in the middle of what is shown. */
	lookAtCurrent() {
		const { picture, current } = this, edges = picture.edges(this.rows.shown[current]);

		if (edges)
			this.lookAt(this.middleOnScreen(), (edges[0] + edges[1]) / 2);
	}

	middleOnScreen() {
		return this.picture.place(this.middle) / this.picture.dots;
	}
}
