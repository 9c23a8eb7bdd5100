// SPDX-License-Identifier: Apache-2.0
/*
 * The names of the rows, as a tree that screen readers and the keyboard know. Only those that are
 * visible are elements.
 */

const BUSY_FROM = 0.001; // share of the time from which a row says how busy it is

class LaneNames {
	constructor(timeline) {
		this.timeline = timeline;
		this.host = byId("names");
		this.host.addEventListener("click", (event) => this.click(event));
	}

	/* Show the names of the rows from first to the one before end. */
	show(first, end) {
		const { rows, current, state } = this.timeline;
		const key = [first, end, current, state.lane, state.open, state.lanes,
			rows.dots].join();

		if (key !== this.key) {
			this.key = key;
			this.replace(rows.numbers(first, end));
		}
		this.placeHeadings();
	}

	replace(numbers) {
		const { rows, current } = this.timeline;

		this.host.replaceChildren(...numbers.map((number) =>
			this.make(rows.shown[number], number)));
		if (numbers.includes(current))
			this.host.setAttribute("aria-activedescendant", `row-${current}`);
		else
			this.host.removeAttribute("aria-activedescendant");
	}

	/* Headings are always visible: they move while the others are scrolled. */
	placeHeadings() {
		const { rows, picture } = this.timeline;

		for (const row of rows.headings)
			byId(`row-${rows.shown.indexOf(row)}`).style.top =
				`${(picture.headingTop(row) + picture.scrolled) / picture.dots}px`;
	}

	make(row, number) {
		const { rows, current, trace } = this.timeline, { dots, tops } = rows;
		const open = rows.isOpen(row), level = row.heading ? 2 : 1;
		const made = element("div", { id: `row-${number}`, role: "treeitem",
			class: `row ${row.kind}${row.of ? " inside" : ""}` +
				`${number === current ? " current" : ""}`,
			title: this.title(row), "data-row": number,
			"aria-level": level + (row.of ? 1 : 0),
			"aria-selected": String(row === this.timeline.lane),
			"aria-posinset": number + 1, "aria-setsize": rows.shown.length,
			"aria-expanded": row.inside.length > 0 && String(open) });

		made.style.top = `${tops[number] / dots}px`;
		made.style.height = `${(tops[number + 1] - tops[number]) / dots}px`;
		if (row.inside.length)
			made.append(element("span", { class: "fold", "aria-hidden": "true",
				text: open ? "▾" : "▸" }));
		made.append(span("name", row.label));
		if (trace && row.busy >= BUSY_FROM)
			made.append(span("faint", percent(row.busy, 1)));
		else if (row.note)
			made.append(span("faint", row.note));
		else if (row.counter)
			made.append(span("faint", row.counter.scale));
		return made;
	}

	title(row) {
		const parts = [row.title ?? row.label];

		if (Number.isFinite(row.busy))
			parts.push(`busy ${percent(row.busy, 1)} of the recording`);
		if (row.counter)
			parts.push(`scale: up to ${row.counter.scale}`);
		if (row.inside.length)
			parts.push(`${plural(row.inside.length, "row")} inside`);
		return parts.join("; ") + (row.chosen ? ". Click: its flame graph" : "");
	}

	/* A click on the triangle opens a process, one on the name selects the lane. */
	click(event) {
		const made = event.target.closest("[data-row]");
		const row = this.timeline.rows.shown[made?.dataset.row];

		if (!row)
			return;
		this.timeline.current = Number(made.dataset.row);
		if (event.target.closest(".fold"))
			this.timeline.toggle(row);
		else
			this.timeline.selectLane(row);
	}
}

/* The fills that are on the screen, with their words. */
class FillLegend {
	constructor(timeline) {
		this.timeline = timeline;
		this.host = byId("fills");
	}

	/* Return the word of a fill: its own, or the program whose colour it is. */
	word(number) {
		const { fills, programs } = this.timeline.trace;

		return fills[number]?.[0] ||
			programs.find(([, fill]) => fill === number)?.[0] || "";
	}

	/* used: 1 by number of a fill. */
	show(used) {
		const key = `${used.join("")} ${this.timeline.page.palette.name}`;

		if (key === this.key)
			return;
		this.key = key;
		const numbers = [...used.keys()].filter((number) =>
			used[number] && this.timeline.trace.fills[number] && this.word(number));

		this.host.replaceChildren(...numbers.map((number) => this.chip(number)));
	}

	chip(number) {
		return element("span", { class: "fill", "data-fill": number },
			this.swatch(number), span("", visible(this.word(number))));
	}

	/* Return the swatch of the fill that has a word; none if there is no such fill. */
	swatches(word) {
		const number = this.timeline.trace.fills.findIndex(([of]) => of === word);

		return number < 0 ? [] : [this.swatch(number)];
	}

	/* Return a picture of a fill: as a bar, or as it is where nothing is busy. */
	swatch(number) {
		const [, shape] = this.timeline.trace.fills[number];
		const swatch = element("canvas", { class: "swatch", "aria-hidden": "true",
			width: 12, height: 12 });
		const colours = this.timeline.colours;
		const painter = new LanePainter(12, 2, colours); // thick, since it is small
		const level = shape === "solid" ? FULL_LEVEL : 0;
		const strokes = new Uint8Array(12 * STROKE_SIZE).map((_, i) =>
			i % STROKE_SIZE ? number : level);

		swatch.getContext("2d").putImageData(painter.paint(strokes, 12), 0, 0);
		return swatch;
	}
}
