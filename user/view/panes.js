// SPDX-License-Identifier: Apache-2.0
/*
 * Show the data of a frame: beside the pointer, in the pane below the graph, and to screen
 * readers.
 */

const LIST_COLUMNS = 30; // characters of a name in a list
const LISTED = 12; // most callers or callees shown at once

/*
 * Return the nodes of a function that are not below another node of it, so that recursion counts
 * once.
 */
function outermost(view, label) {
	const found = [];

	for (let node = 1; node < view.count; node++)
		if (view.label[node] === label) {
			found.push(node);
			node = view.end[node] - 1;
		}
	return found;
}

/* Compute self and total of a function over all its nodes, by column. */
function functionCost(view, label) {
	const nodes = outermost(view, label);
	const cost = { nodes, self: view.self.map(() => 0), total: view.self.map(() => 0) };

	for (let column = 0; column < view.self.length; column++) {
		for (const node of nodes)
			cost.total[column] += view.total[column][node];
		for (let node = 1; node < view.count; node++)
			if (view.label[node] === label)
				cost.self[column] += view.self[column][node];
	}
	return cost;
}

/* Sum shares by label, largest first, with the widest node of each label. */
class Tally {
	constructor(view) {
		this.view = view;
		this.byLabel = new Map();
	}

	add(label, node, share) {
		const found = this.byLabel.get(label) ?? { label, node, share: 0 };

		found.share += share;
		if (this.view.width[node] > this.view.width[found.node])
			found.node = node;
		this.byLabel.set(label, found);
	}

	list() {
		return [...this.byLabel.values()]
			.sort((a, b) => b.share - a.share || a.label - b.label);
	}
}

/*
 * Return a node's share; in a comparison the larger of both, because removed nodes have callers,
 * too.
 */
const weightIn = (view, node) => view.before
	? Math.max(shareOf(view, node), shareOf(view, node, BEFORE)) : shareOf(view, node);

/* Return the callers and callees of a function in the shown tree. */
function neighbours(view, label) {
	const above = new Tally(view), below = new Tally(view);

	for (const node of outermost(view, label)) {
		above.add(view.label[view.parent[node]], view.parent[node], weightIn(view, node));
		for (let inner = node; inner < view.end[node]; inner++) {
			if (view.label[inner] !== label)
				continue;
			for (let child = inner + 1; child < view.end[inner];
				child = view.end[child])
				if (view.label[child] !== label)
					below.add(view.label[child], child, weightIn(view, child));
		}
	}
	return view.inverted ? { callers: below.list(), callees: above.list() }
		: { callers: above.list(), callees: below.list() };
}

class Panes {
	constructor(page) {
		this.page = page;
		this.labels = page.data.labels;
		this.tip = byId("tip");
		this.details = byId("details");
	}

	name(label) {
		return label < 0 ? "all" : this.labels.name[label];
	}

	/* Return a name made to fit into so many characters, or as it is with full names. */
	listed(label, columns) {
		const forms = this.labels.forms[label];

		if (label < 0 || this.page.state.full)
			return this.name(label);
		return forms.find((form) => form.length <= columns) ??
			cutMiddle(forms.at(-1), columns);
	}

	/* Format values by column, such as "12.3 %, 1.23 s, 123 samples". */
	amount(values, column = 0) {
		const { view } = this.page, whole = view.whole[column + view.unit];
		const samples = samplesText(values[column + COUNT], view.event);
		const share = percent(values[column + view.unit], whole);

		return view.unit === COUNT ? `${share}, ${samples}`
			: `${share}, ${weight(values[column + WEIGHT], view.event)}, ${samples}`;
	}

	valuesOf(node, of = "total", view = this.page.view) {
		return view[of].map((column) => column[node]);
	}

	/* Describe the change of a share. */
	changed(now, before) {
		if (!before)
			return now ? "new" : "±0.00 pp";
		return now ? points(now - before) : `gone (${points(-before)})`;
	}

	tipLines(node, graph) {
		const { view } = graph, { labels } = this;
		const values = this.valuesOf(node, "total", view);
		const label = view.label[node], lines = [];
		const total = view.total[view.unit];

		lines.push(element("strong", { class: "name", text: this.name(label) }));
		if (label >= 0 && labels.module[label])
			lines.push(span("name faint", labels.shortModule(label)));
		lines.push(...this.chainLines(node, view));
		lines.push(span("", this.amount(values)));
		lines.push(...this.classLines(timesOf(view, node)));
		if (view.before) {
			lines.push(span("", `before: ${this.amount(values, BEFORE)}`));
			lines.push(span("strong",
				this.changed(shareOf(view, node), shareOf(view, node, BEFORE))));
		} else if (graph.zoomed && view.depth[node] >= view.depth[graph.zoomed]) {
			lines.push(span("faint", percent(total[node], total[graph.zoomed]) +
				" of what is zoomed into"));
		}
		return lines;
	}

	/* Return lines of times by class of wait, most time first; none without waits. */
	classLines(times) {
		const { view, waits } = this.page, whole = times.reduce((sum, [, t]) => sum + t, 0);

		if (!view.classes.length)
			return [];
		return times.sort((a, b) => b[1] - a[1]).map(([number, time]) =>
			element("span", { class: "of-class" }, waits.swatch(number),
				span("", `${waits.name(number)}: ${duration(time)}, ` +
					percent(time, whole))));
	}

	/* Return a line that names the frames of the folded chain that begins at a node. */
	chainLines(node, view) {
		const length = Math.max(0, view.folded[node]);
		const names = Array.from({ length }, (_, i) => this.name(view.label[node + i]));

		return length
			? [span("name", `${length} frames folded: ${names.join(" › ")}`)] : [];
	}

	/* Make a list of the times of a node by class of wait. */
	classList(node) {
		const { view } = this.page, lines = this.classLines(timesOf(view, node));

		return lines.length ? [element("div", { class: "list" },
			element("h3", { text: view.event.of === OF.wakers ? "Ended waits of class"
				: view.event.of === OF.wall ? "Runs and waits" : "Waits for" }),
			element("ul", {}, ...lines.map((line) => element("li", {}, line))))] : [];
	}

	/* Show the tip of a node of a graph beside the pointer; -1 hides it. */
	showTip(node, x, y, graph = this.page.graph) {
		this.tip.hidden = node < 0;
		if (node < 0)
			return;
		this.tip.replaceChildren(...this.tipLines(node, graph));
		const box = this.tip.getBoundingClientRect();

		const left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 6));
		const top = y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10)
			: y + 18;

		Object.assign(this.tip.style, { left: `${left}px`, top: `${top}px` });
	}

	hideTip() {
		this.tip.hidden = true;
	}

	/* Announce a node to screen readers. */
	speak(node) {
		const { view } = this.page;

		byId("spoken").textContent =
			`${this.name(view.label[node])}, ${this.amount(this.valuesOf(node))}, ` +
			`depth ${view.depth[node]}`;
	}

	row(key, text) {
		return [element("dt", { text: key }), element("dd", { text })];
	}

	numbers(self, total, title) {
		const { view } = this.page, parts = [];

		for (const column of view.before ? [0, BEFORE] : [0]) {
			const when = view.before ? column ? ", before" : ", after" : "";

			parts.push(...this.row(`Total${when}`, this.amount(total, column)));
			parts.push(...this.row(`Self${when}`, this.amount(self, column)));
		}
		if (view.before) {
			const share = (column) => total[column] / (view.whole[column] || 1);

			parts.push(...this.row("Change",
				this.changed(share(view.unit), share(BEFORE + view.unit))));
		}
		return element("div", { class: "numbers" }, element("h3", { text: title }),
			element("dl", {}, ...parts));
	}

	/* Make a list of callers or callees, each a button that selects its node. */
	list(title, entries, none) {
		const whole = entries.reduce((sum, entry) => sum + entry.share, 0);
		const items = entries.slice(0, LISTED).map((entry) => {
			const bar = element("span", { class: "bar", "aria-hidden": "true" });

			bar.style.setProperty("--share", whole ? entry.share / whole : 0);
			return element("li", {}, element("button", { type: "button", class: "go",
				onclick: () => this.page.select(entry.node) }, bar,
			span("share", percent(entry.share, 1)),
			element("span", { class: "name", title: this.name(entry.label),
				text: this.listed(entry.label, LIST_COLUMNS) })));
		});
		const rest = entries.slice(LISTED).reduce((sum, entry) => sum + entry.share, 0);

		if (entries.length > LISTED)
			items.push(element("li", { class: "faint", text:
				`${count(entries.length - LISTED)} more: ${percent(rest, 1)}` }));
		if (!entries.length)
			items.push(element("li", { class: "faint", text: none }));
		return element("div", { class: "list" }, element("h3", { text: title }),
			element("ul", {}, ...items));
	}

	/* List the lines at which frames of a function stood, where they are known. */
	lines(label) {
		const ran = this.page.view.before ? [] : this.labels.ran[label] ?? [];
		const whole = ran.reduce((sum, line) => sum + line.count, 0);
		const own = this.labels.file[label];

		return ran.length ? [element("div", { class: "list lines" },
			element("h3", { text: "Lines that ran or called, everywhere" }),
			element("ul", {}, ...ran.map(({ line, file, count: n }) => {
				const name = (file || own).replace(/^.*\//, "");

				return element("li", { title: file || own },
					span("share", percent(n, whole)),
					span("name", name ? `${name}:${line}` : `line ${line}`));
			})))] : [];
	}

	/* Show the module, kind and source position of a function. */
	origin(label) {
		const { kind, module, file, line } = this.labels, parts = [];
		const of = KINDS[kind[label]] ?? KINDS[KIND.none];

		parts.push(element("span", { class: "kind" },
			this.page.legend.swatch(kind[label]), of.name));
		if (module[label])
			parts.push(span("name", module[label]));
		if (file[label])
			parts.push(span("name",
				file[label] + (line[label] ? `:${line[label]}` : "")));
		return element("p", { class: "origin" }, ...parts);
	}

	/* Name the frames of a folded chain, with a button that shows them. */
	unfolder(node) {
		return this.chainLines(chainOf(this.page.view, node), this.page.view).map((line) =>
			element("p", { class: "chain" }, line, element("button", { type: "button",
				text: "Unfold", onclick: () => this.page.unfold(true) })));
	}

	/* Return the short name of a function, and a button for the whole one if that differs. */
	heading(label) {
		const { full } = this.page.state, whole = this.name(label);
		const short = this.labels.forms[label][0];
		const button = element("button", { type: "button", text: "Full name",
			"aria-pressed": String(full),
			title: "With what is left out of its short form",
			onclick: () => this.page.change({ full: !full }, true) });

		const name = element("span",
			{ class: "name", title: whole, text: full ? whole : short });

		return short === whole ? [name] : [name, button];
	}

	/* Describe a node in the pane, which is hidden while none is selected. */
	show(node) {
		const { view } = this.page, label = view.label[node];

		if (node <= 0)
			return this.details.replaceChildren();
		const cost = functionCost(view, label);
		const { callers, callees } = neighbours(view, label);
		const group = this.labels.kind[label] === KIND.group;
		const columns = [this.numbers(this.valuesOf(node, "self"), this.valuesOf(node),
			"This frame")];

		if (cost.nodes.length > 1)
			columns.push(this.numbers(cost.self, cost.total,
				"The function, everywhere"));
		columns.push(...this.classList(node), ...this.lines(label));
		if (!group)
			columns.push(this.list("Called by", callers, "nobody"));
		columns.push(this.list(group ? "Begins with" : "Calls", callees,
			"nothing that was seen"));
		this.details.replaceChildren(
			element("h2", {}, ...this.heading(label),
				element("button", { type: "button", text: "Zoom",
					title: "Show it in full width (Enter)",
					onclick: () => this.page.zoomTo(node) }),
				element("button", { type: "button", text: "Find all",
					title: "Search for it",
					onclick: () => this.page.searchFor(this.name(label)) }),
				element("button", { type: "button", text: "Sandwich",
					title: "Its callers and callees, wherever called (s)",
					onclick: () => this.page.sandwich.center(label) }),
				element("button", { type: "button", class: "close", text: "Close",
					title: "Close this pane",
					onclick: () => this.page.change({ select: "" }, true) })),
			this.origin(label), ...this.unfolder(node),
			element("div", { class: "columns" }, ...columns));
		return undefined;
	}
}
