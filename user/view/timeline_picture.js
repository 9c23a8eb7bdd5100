// SPDX-License-Identifier: Apache-2.0
/*
 * Draw the timeline: the axis and the strip of all CPUs, the lanes from the painted layers, and
 * above them what moves with the pointer. Layers of another zoom are scaled until the exact one
 * comes.
 */

const AXIS_HEIGHT = 20; // px
const AXIS_FONT = "11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
const MARKS = {
	light: { range: "rgb(181 71 8 / .16)", edge: "#b54708", line: "#e2ddd6", text: "#6a655f",
		cursor: "rgb(28 26 23 / .55)", lane: "rgb(181 71 8 / .08)", tag: "#26231f",
		tagText: "#ffffff", slice: "#111827", found: "#c2188f" },
	dark: { range: "rgb(253 177 77 / .2)", edge: "#fdb14d", line: "#2c2e35", text: "#a19c96",
		cursor: "rgb(236 234 231 / .6)", lane: "rgb(253 177 77 / .1)", tag: "#f1efec",
		tagText: "#1c1a17", slice: "#ffffff", found: "#ff79dc" },
};

const penOf = (canvas, alpha) => canvas.getContext("2d", { alpha });

class LanePicture {
	constructor(timeline) {
		this.timeline = timeline;
		this.scroller = byId("lanes-scroll");
		this.sheet = byId("lanes-sheet");
		this.stage = byId("stage");
		this.lanes = byId("lanes");
		this.marks = byId("marks");
		this.axis = byId("axis");
		this.lanesPen = penOf(this.lanes, false);
		this.marksPen = penOf(this.marks, true);
		this.axisPen = penOf(this.axis, false);
		this.wide = this.high = 0; // px
		this.scroller.addEventListener("scroll", () => timeline.ask());
		new ResizeObserver(() => {
			this.resized = true;
			timeline.ask();
		}).observe(this.scroller);
	}

	get theme() {
		return this.timeline.page.palette.name;
	}

	/* Give a canvas a size in px, in whole device pixels. */
	size(canvas, wide, high) {
		canvas.width = Math.max(1, Math.round(wide * this.dots));
		canvas.height = Math.max(1, Math.round(high * this.dots));
		canvas.style.width = `${canvas.width / this.dots}px`;
		canvas.style.height = `${canvas.height / this.dots}px`;
	}

	resize() {
		const { rows } = this.timeline, dots = devicePixelRatio || 1;

		this.dots = dots;
		if (rows.dots !== dots) {
			rows.place(dots);
			this.timeline.repaint();
		}
		this.resized = false;
		this.wide = this.scroller.clientWidth - byId("names").offsetWidth;
		this.high = this.scroller.clientHeight;
		this.stage.style.height = `${this.high}px`;
		this.size(this.lanes, this.wide, this.high);
		this.size(this.marks, this.wide, this.high);
		this.axisHigh = AXIS_HEIGHT + (rows.headings.length ? 0 : STRIP_HEIGHT);
		this.size(this.axis, this.wide, this.axisHigh);
		this.columns = this.lanes.width;
		this.top = Math.round(AXIS_HEIGHT * dots); // of the strip, in device pixels
	}

	/* Return the place of a time in device pixels from the left. */
	place(time) {
		const { from, to } = this.timeline.view;

		return (time - from) / (to - from) * this.columns;
	}

	/* Return the time at px from the left. */
	time(x) {
		const { from, to } = this.timeline.view;

		return from + x / this.wide * (to - from);
	}

	/* Return the number of the row at px from the top of the lanes; -1 if there is none. */
	row(y) {
		const { rows } = this.timeline, place = Math.floor(y * this.dots);
		const heading = rows.headings.find((row) => this.headingTop(row) <= place &&
			place < this.headingTop(row) + rows.pixels(row.height));
		const number = heading ? rows.shown.indexOf(heading)
			: rows.at(place + this.scrolled);

		return number < rows.shown.length ? number : -1;
	}

	/*
	 * Return the place of a heading in device pixels from the top of the lanes: where its row
	 * is, but always visible, above the rows that are there.
	 */
	headingTop(row) {
		const { rows } = this.timeline, { headings } = rows, at = headings.indexOf(row);
		const high = rows.pixels(row.height), below = (headings.length - at) * high;

		return Math.max(at * high, Math.min(this.lanes.height - below,
			rows.tops[rows.shown.indexOf(row)] - this.scrolled));
	}

	/* Scroll to the lanes of a trace. */
	goToTrace(row) {
		const { rows } = this.timeline, [above] = this.covered(row);

		this.scroller.scrollTop = rows.tops[rows.shown.indexOf(row)] / this.dots - above;
	}

	/* Return the px at top and bottom that are covered by headings where a row is shown. */
	covered(row) {
		const { headings } = this.timeline.rows, at = headings.indexOf(row.heading ?? row);
		const above = at + (row.heading ? 1 : 0), high = headings[0]?.height ?? 0;

		return at < 0 ? [0, 0] : [above * high, (headings.length - 1 - at) * high];
	}

	/* Return the numbers of the first visible row and of the one after the last. */
	visible(more = 0) {
		const { rows } = this.timeline, high = this.lanes.height;

		return rows.within(this.scrolled - more * high, this.scrolled + (1 + more) * high);
	}

	draw() {
		const { rows } = this.timeline;

		if (this.resized || !this.wide || this.dots !== (devicePixelRatio || 1))
			this.resize();
		if (this.wide <= 0)
			return;
		this.sheet.style.height = `${Math.max(rows.high / this.dots, this.high)}px`;
		this.scrolled = Math.round(this.scroller.scrollTop * this.dots);
		const [first, end] = this.visible();

		this.drawLanes(first, end);
		this.drawAxis();
		this.timeline.names.show(first, end);
		this.drawMarks();
	}

	clear(pen, colour) {
		const { width, height } = pen.canvas;

		pen.setTransform(1, 0, 0, 1, 0, 0);
		if (colour) {
			pen.fillStyle = colour;
			pen.fillRect(0, 0, width, height);
		} else {
			pen.clearRect(0, 0, width, height);
		}
	}

	/* Draw the lanes of rows at places, from old layers to new ones. */
	drawLanes(first, end) {
		const { rows } = this.timeline, places = [];

		for (let number = first; number < end; number++)
			places.push([rows.shown[number].lane, rows.tops[number] - this.scrolled]);
		this.clear(this.lanesPen, THEMES[this.theme].paper);
		this.drawPlaces(this.lanesPen, places);
		this.drawHeadings(this.lanesPen);
	}

	/* Draw the strips of two traces above the lanes. */
	drawHeadings(pen) {
		const { rows } = this.timeline;
		const places = rows.headings.map((row) => [row.lane, this.headingTop(row)]);

		pen.fillStyle = THEMES[this.theme].paper;
		for (const [, top] of places)
			pen.fillRect(0, top, this.columns, rows.strip);
		this.drawPlaces(pen, places);
		pen.fillStyle = MARKS[this.theme].line;
		for (const [, top] of places)
			pen.fillRect(0, top - Math.round(this.dots), this.columns,
				Math.round(this.dots));
	}

	/* places: pairs of a lane and its place from the top in device pixels. */
	drawPlaces(pen, places) {
		const { layers } = this.timeline.windows, { view } = this.timeline;
		const byLayer = new Map();

		for (const [lane, y] of places)
			for (const layer of layers) {
				if (!layer.has(lane))
					continue;
				if (!byLayer.has(layer))
					byLayer.set(layer, []);
				byLayer.get(layer).push([layer.tops.get(lane), y,
					this.timeline.rows.barOf(lane)]);
				if (layer.covers(view))
					break;
			}
		for (const layer of [...layers].reverse())
			if (byLayer.has(layer))
				this.drawLayer(pen, layer, byLayer.get(layer));
	}

	/* Return what columns of a layer are visible, and where; exact ones are moved only. */
	span(layer) {
		const { view } = this.timeline, { columns } = this;
		const each = (view.to - view.from) / columns, left = this.place(layer.from);
		const scale = layer.each / each;

		if (Math.abs(scale - 1) * columns < 0.5) {
			const shift = Math.round(left), from = Math.max(0, -shift);
			const width = Math.min(layer.columns - from, columns - from - shift);

			return { from, width, to: from + shift, wide: width };
		}
		const from = Math.max(0, -left / scale);
		const width = Math.min(layer.columns - from, columns / scale);

		return { from, width, to: Math.max(0, left), wide: width * scale };
	}

	/* Draw lanes of a layer: [place in the layer, place, height]. Neighbours go together. */
	drawLayer(pen, layer, lanes) {
		const { from, width, to, wide } = this.span(layer);

		if (!(width > 0) || !layer.canvas)
			return;
		pen.imageSmoothingEnabled = false;
		for (let i = 0; i < lanes.length;) {
			const [source, place] = lanes[i];
			let high = lanes[i][2];

			for (i++; i < lanes.length && lanes[i][0] - source === lanes[i][1] - place;
				i++)
				high = lanes[i][1] - place + lanes[i][2];
			pen.drawImage(layer.canvas, from, source, width, high, to, place, wide,
				high);
		}
	}

	/* Draw the times and the strip of all CPUs. */
	drawAxis() {
		const { axisPen: pen, dots } = this, colours = MARKS[this.theme];
		const { rows } = this.timeline;
		const { base, ticks } = ticksOf(this.timeline.view, this.wide);

		this.clear(pen, THEMES[this.theme].paper);
		if (!rows.headings.length)
			this.drawPlaces(pen, [[STRIP, this.top]]);
		pen.setTransform(dots, 0, 0, dots, 0, 0);
		pen.font = AXIS_FONT;
		pen.textBaseline = "middle";
		pen.textAlign = "left";
		for (const { time, text } of ticks) {
			const x = this.place(time) / dots;

			pen.fillStyle = colours.line;
			pen.fillRect(Math.round(x), 4, 1, AXIS_HEIGHT - 4);
			pen.fillStyle = colours.text;
			pen.fillText(text, x + 5, AXIS_HEIGHT / 2);
		}
		byId("base").textContent = base;
		this.markRange(pen, 0, this.axisHigh);
		this.markCursor(pen, this.axisHigh);
		this.tagCursor(pen);
	}

	drawMarks() {
		const pen = this.marksPen, { timeline } = this;

		this.clear(pen);
		pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
		timeline.found.draw(this, pen);
		this.markLane(pen, timeline.lane, "lane");
		this.markRange(pen, 0, this.high);
		this.markSlice(pen);
		this.timeline.slice.chain.mark(this, pen);
		this.markCursor(pen, this.high);
		this.tagCounters(pen);
	}

	/* Return the range of px of a row; null if it is not shown. */
	edges(row) {
		const { rows } = this.timeline, number = row ? rows.shown.indexOf(row) : -1;

		if (number < 0)
			return null;
		const top = row.kind === "trace" ? this.headingTop(row)
			: rows.tops[number] - this.scrolled;

		return [top, top + rows.tops[number + 1] - rows.tops[number]]
			.map((place) => place / this.dots);
	}

	markLane(pen, row, colour) {
		const edges = this.edges(row);

		if (!edges)
			return;
		pen.fillStyle = MARKS[this.theme][colour];
		pen.fillRect(0, edges[0], this.wide, edges[1] - edges[0]);
	}

	markRange(pen, top, bottom) {
		const range = this.timeline.dragged ?? this.timeline.range;

		if (!range)
			return;
		const colours = MARKS[this.theme];
		const [left, right] = [range.from, range.to].map((time) =>
			Math.max(-2, Math.min(this.wide + 2, this.place(time) / this.dots)));

		pen.fillStyle = colours.range;
		pen.fillRect(left, top, Math.max(1, right - left), bottom - top);
		pen.fillStyle = colours.edge;
		for (const x of [left, right])
			pen.fillRect(Math.round(x), top, 1, bottom - top);
	}

	/* Outline the slice whose details are shown. */
	markSlice(pen) {
		const { slice, rows } = this.timeline, { shown } = slice;
		const edges = shown && this.edges(rows.byLane.get(shown.lane));

		if (!edges)
			return;
		const [left, right] = [shown.from, shown.to].map((time) =>
			Math.max(-3, Math.min(this.wide + 3, this.place(time) / this.dots)));

		pen.strokeStyle = MARKS[this.theme].slice;
		pen.lineWidth = 1.5;
		pen.strokeRect(left, edges[0] - 0.75, Math.max(2, right - left),
			edges[1] - edges[0]);
		for (const { lane, time } of shown.links ?? [])
			this.markLink(pen, edges, this.edges(rows.byLane.get(String(lane))),
				this.place(Number(time)) / this.dots);
	}

	/* Join a slice with what ended it, or what it ended, where both are visible. */
	markLink(pen, from, to, x) {
		if (!to || from[0] === to[0] || !(x >= 0 && x <= this.wide))
			return;
		const middle = ([top, bottom]) => (top + bottom) / 2;

		pen.strokeStyle = pen.fillStyle = MARKS[this.theme].edge;
		pen.beginPath();
		pen.moveTo(x, middle(from));
		pen.lineTo(x, middle(to));
		pen.stroke();
		for (const edges of [from, to]) {
			pen.beginPath();
			pen.arc(x, middle(edges), 3, 0, 2 * Math.PI);
			pen.fill();
		}
	}

	markCursor(pen, bottom) {
		const { cursor } = this.timeline;

		if (cursor === null)
			return;
		pen.fillStyle = MARKS[this.theme].cursor;
		pen.fillRect(Math.round(this.place(cursor) / this.dots), 0, 1, bottom);
	}

	/* Return what a counter is at the cursor, as far as a column says; "" without a value. */
	counterText(row) {
		const { cursor, windows: { layers } } = this.timeline;
		const layer = layers.find((one) => one.has(row.lane) && one.from <= cursor &&
			cursor < one.to);

		return layer ? layer.strokes.get(row.lane).text(
			Math.floor((cursor - layer.from) / layer.each), row.counter.unit) : "";
	}

	/* Write the values of visible counters beside the cursor. */
	tagCounters(pen) {
		const { cursor, rows } = this.timeline, colours = MARKS[this.theme];
		const [first, end] = this.visible();

		if (cursor === null)
			return;
		const x = this.place(cursor) / this.dots;

		pen.font = AXIS_FONT;
		pen.textBaseline = "middle";
		for (const row of rows.shown.slice(first, end).filter(({ counter }) => counter)) {
			const text = this.counterText(row), [top, bottom] = this.edges(row);
			const room = pen.measureText(text).width + 8;
			const left = x + 5 + room > this.wide ? x - 5 - room : x + 5;

			if (!text)
				continue;
			pen.fillStyle = colours.tag;
			pen.fillRect(left, (top + bottom) / 2 - 8, room, 16);
			pen.fillStyle = colours.tagText;
			pen.fillText(text, left + 4, (top + bottom) / 2 + 0.5);
		}
	}

	/* Write the time at the cursor on the axis. */
	tagCursor(pen) {
		const { cursor, view } = this.timeline, colours = MARKS[this.theme];

		if (cursor === null)
			return;
		const text = momentText(cursor, (view.to - view.from) / 10);
		const x = this.place(cursor) / this.dots, room = pen.measureText(text).width + 10;
		const left = Math.max(0, Math.min(this.wide - room, x - room / 2));

		pen.fillStyle = colours.tag;
		pen.fillRect(left, 1, room, AXIS_HEIGHT - 3);
		pen.fillStyle = colours.tagText;
		pen.fillText(text, left + 5, AXIS_HEIGHT / 2 - 0.5);
	}
}
