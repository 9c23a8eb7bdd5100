// SPDX-License-Identifier: Apache-2.0
/* Show the hottest functions as a table with the same data as the graph. */

const SMALL = matchMedia("(max-width: 640px)");
const ROWS = 200; // most rows shown at once

/* Compute self and total of every function in a node, by column; recursion counts once. */
function functionCosts(view, labels, within) {
	const size = labels.name.length, columns = view.self.length;
	const table = () => Array.from({ length: columns }, () => new Float64Array(size));
	const self = table(), total = table();
	const until = new Int32Array(size), node = new Int32Array(size);

	for (let at = within || 1; at < view.end[within]; at++) {
		const label = view.label[at], inner = at < until[label];

		for (let c = 0; c < columns; c++) {
			self[c][label] += view.self[c][at];
			if (!inner)
				total[c][label] += view.total[c][at];
		}
		if (!inner)
			until[label] = view.end[at];
		if (!node[label] || view.width[at] > view.width[node[label]])
			node[label] = at;
	}
	return { self, total, node };
}

class Table {
	constructor(page) {
		this.page = page;
		this.labels = page.data.labels;
		this.sort = "self";
		this.descending = true;
		this.rows = ROWS;
		this.host = byId("table");
	}

	/* Return the columns of this view: [key, title, text of a row, number]. */
	columns() {
		const { view } = this.page, what = view.unit === COUNT ? "samples" : "time";
		const amount = (values) =>
			view.unit === COUNT ? count(values) : weight(values, view.event);

		if (view.before)
			return [
				["self", "Self", (r) => percent(r.selfShare, 1),
					(r) => r.selfShare],
				["selfOld", "Self before", (r) => percent(r.selfOld, 1),
					(r) => r.selfOld],
				["selfChange", "Self change",
					(r) => points(r.selfShare - r.selfOld),
					(r) => r.selfShare - r.selfOld],
				["total", "Total", (r) => percent(r.share, 1), (r) => r.share],
				["totalOld", "Total before", (r) => percent(r.old, 1),
					(r) => r.old],
				["change", "Total change",
					(r) => this.page.panes.changed(r.share, r.old),
					(r) => r.share - r.old],
			];
		return [
			["self", "Self", (r) => percent(r.selfShare, 1), (r) => r.self],
			["selfTime", `Self ${what}`, (r) => amount(r.self), (r) => r.self],
			["total", "Total", (r) => percent(r.share, 1), (r) => r.total],
			["totalTime", `Total ${what}`, (r) => amount(r.total), (r) => r.total],
		];
	}

	collect() {
		const { view, graph } = this.page, unit = view.unit, found = [];
		const { self, total, node } = functionCosts(view, this.labels, graph.zoomed);
		const part = (values, column, label) =>
			view.whole[column] ? values[column][label] / view.whole[column] : 0;
		const wanted = (label) => node[label] && this.labels.kind[label] !== KIND.group &&
			(!graph.matches || graph.matches[label]);

		for (let label = 0; label < node.length; label++) {
			if (!wanted(label))
				continue;
			found.push({ label, node: node[label],
				self: self[unit][label], total: total[unit][label],
				selfShare: part(self, unit, label), share: part(total, unit, label),
				selfOld: part(self, BEFORE + unit, label),
				old: part(total, BEFORE + unit, label),
				times: timesByClass(view, (column) => total[column][label]) });
		}
		return found;
	}

	/* Return how many characters of a name there is room for. */
	nameColumns() {
		return SMALL.matches ? 20 : 76;
	}

	order(rows, columns) {
		const { waits, panes } = this.page;
		const number = columns.find(([key]) => key === this.sort)?.[3];
		const fit = this.nameColumns();
		const text = this.sort === "module" ? (r) => this.labels.shortModule(r.label)
			: this.sort === "wait" ? (r) => waits.name(largest(r.times)[0])
			: (r) => panes.listed(r.label, fit);
		const direction = this.descending ? -1 : 1;

		return rows.sort((a, b) => {
			const x = number ? number(a) : text(a), y = number ? number(b) : text(b);

			return compare(x, y) * direction || b.total - a.total ||
				compare(name[a.label], name[b.label]);
		});
	}

	heading(key, title, numeric) {
		const sorted = this.sort === key;
		const click = () => {
			this.descending = sorted ? !this.descending : numeric;
			this.sort = key;
			this.show();
			this.host.querySelector(`[data-key="${key}"]`).focus();
		};

		return element("th", { scope: "col", class: numeric ? `number ${key}` : key,
			"aria-sort": sorted ? this.descending ? "descending" : "ascending"
				: "none" },
		element("button", { type: "button", "data-key": key, onclick: click,
			text: sorted ? `${title} ${this.descending ? "▼" : "▲"}` : title }));
	}

	row(row, columns, most) {
		const cells = columns.map(([key, , text], i) => {
			const cell = element("td", { class: `number ${key}`, text: text(row) });

			if (i === 0) {
				cell.classList.add("bar");
				cell.style.setProperty("--share", most ? row.selfShare / most : 0);
			}
			return cell;
		});
		const { page, labels } = this;
		const name = element("button", { type: "button", class: "go name",
			text: page.panes.listed(row.label, this.nameColumns()),
			title: labels.name[row.label],
			onclick: () => page.select(row.node) });

		return element("tr",
			{ "aria-selected": page.graph.selected === row.node && "true" },
			...cells,
			element("td", { class: "function" },
				page.legend.swatch(labels.kind[row.label]), name),
			...this.waitCell(row),
			element("td", { class: "module faint", title: labels.module[row.label],
				text: labels.shortModule(row.label) }));
	}

	/* Return the cell of the class with most of a function's time, in views of waits. */
	waitCell({ times }) {
		const { view, waits } = this.page, [number, time] = largest(times);
		const whole = times.reduce((sum, [, one]) => sum + one, 0);

		const text = `${waits.name(number)}, ${percent(time, whole)}`;

		return view.classes.length
			? [element("td", { class: "function" }, waits.swatch(number), text)] : [];
	}

	/* Return the button that shows whole names, or short ones. */
	namesButton() {
		const { page, page: { state } } = this;

		return element("button", { type: "button", id: "full", text: "Full names",
			"aria-pressed": String(state.full),
			title: "With return types, default arguments and all parameters; " +
				"else short names, whole when pointed at",
			onclick: () => {
				page.change({ full: !state.full });
				byId("full").focus();
			} });
	}

	show() {
		const { view } = this.page;
		const columns = this.columns(), rows = this.order(this.collect(), columns);
		const most = rows.reduce((largest, row) => Math.max(largest, row.selfShare), 0);
		const head = element("tr", {},
			...columns.map(([key, title]) => this.heading(key, title, true)),
			this.heading("function", "Function", false),
			...view.classes.length ? [this.heading("wait", "Mostly", false)] : [],
			this.heading("module", "Module", false));
		const body = rows.slice(0, this.rows).map((row) => this.row(row, columns, most));
		const { graph, panes } = this.page;
		const where = graph.zoomed ? ` in ${panes.name(view.label[graph.zoomed])}` : "";
		const fit = graph.matches ? " that fit the search" : "";
		const caption = `${plural(rows.length, "function")}${where}${fit}`;
		const parts = [element("table", {},
			element("caption", { class: "name", text: caption }, this.namesButton()),
			element("thead", {}, head), element("tbody", {}, ...body))];

		if (rows.length > this.rows)
			parts.push(element("button", { type: "button", class: "more",
				text: `Show more (${count(rows.length - this.rows)})`,
				onclick: () => { this.rows *= 4; this.show(); } }));
		this.host.classList.toggle("full", this.page.state.full);
		this.host.replaceChildren(...parts);
	}
}
