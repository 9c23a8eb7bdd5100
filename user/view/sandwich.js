// SPDX-License-Identifier: Apache-2.0
/*
 * Show one function, wherever it was called: the tree of its callers above it, the tree of its
 * callees below it. Both have the width of the function.
 */

/* Add the stacks above the outermost nodes of a function, each with all of the node's time. */
function addCallers(tree, view, nodes) {
	for (const node of nodes) {
		let at = 0;

		for (let up = view.parent[node]; up > 0; up = view.parent[up])
			at = tree.child(at, view.label[up]);
		view.total.forEach((total, column) => { tree.self[column][at] += total[node]; });
	}
}

/* Add what is below the outermost nodes of a function as one tree. */
function addCallees(tree, view, nodes) {
	const place = new Int32Array(view.count);

	for (const node of nodes)
		for (let at = node; at < view.end[node]; at++) {
			const to = place[at] = at === node ? 0
				: tree.child(place[view.parent[at]], view.label[at]);

			view.self.forEach((self, column) => { tree.self[column][to] += self[at]; });
		}
}

/* Return a tree whose root is the function with a label, made by addCallers or addCallees. */
function treeAround(view, labels, label, add) {
	const tree = new Builder(1024, view.self.length);

	add(tree, view, outermost(view, label));
	const { event, unit, whole, classes, times, before, widthOf } = view;
	const made = arrange(tree, { widthOf, ranks: labels.ranks(), heaviest: true });

	made.label[0] = label;
	return Object.assign(made, { event, unit, whole, classes, times, before });
}

class Sandwich {
	constructor(page) {
		this.page = page;
		this.host = byId("sandwich");
		this.callers = this.half("callers", 1);
		this.callees = this.half("callees", 0);
		this.callers.upward = true;
	}

	get labels() {
		return this.page.labels;
	}

	/* Make the graph of one half; a click puts a function into the middle. */
	half(id, skipped) {
		const { page } = this, graph = new Graph(byId(id), skipped), { canvas } = graph;

		canvas.addEventListener("pointermove", (event) => {
			if (event.pointerType === "touch")
				return;
			const node = graph.at(event.offsetX, event.offsetY);

			canvas.style.cursor = node > 0 ? "pointer" : "default";
			graph.point(node);
			page.panes.showTip(node, event.clientX, event.clientY, graph);
		});
		canvas.addEventListener("pointerleave", () => {
			graph.point(0);
			page.panes.hideTip();
		});
		canvas.addEventListener("click", (event) => {
			const node = graph.at(event.offsetX, event.offsetY);

			if (node > 0)
				this.center(graph.view.label[node]);
		});
		graph.scroller.addEventListener("scroll", () => page.panes.hideTip());
		return graph;
	}

	center(label) {
		this.page.change({ sandwich: this.labels.hash(label) });
	}

	/* Return the label of a hash in the address; -1 if the shown tree has none. */
	labelOf(hash) {
		const { view } = this.page;
		const at = hash ? view.label.findIndex((label) =>
			label >= 0 && this.labels.hash(label) === hash) : -1;

		return at < 0 ? -1 : view.label[at];
	}

	/* Return the function to begin with: the selected one, or that of the most self time. */
	first() {
		const { view, graph } = this.page, own = view.self[view.unit];
		const costs = new Float64Array(this.labels.name.length);
		let most = -1;

		if (graph.selected > 0)
			return view.label[graph.selected];
		for (let node = 1; node < view.count; node++) {
			costs[view.label[node]] += own[node];
			if (most < 0 || costs[view.label[node]] > costs[most])
				most = view.label[node];
		}
		return most;
	}

	/* Go through the functions that match the search, those with most time first. */
	goMatch(step) {
		const { view, found } = this.page;
		const matching = [...new Set(Array.from(found, (node) => view.label[node]))];
		const at = matching.indexOf(this.label), size = matching.length;
		const to = at < 0 ? (step > 0 ? 0 : size - 1) : (at + step + size) % size;

		if (size)
			this.center(matching[to]);
	}

	show(label) {
		const { view, panes, graph } = this.page, changed = this.label !== label ||
			this.shown !== view;

		this.label = label;
		this.shown = view;
		for (const [half, add] of [[this.callers, addCallers],
			[this.callees, addCallees]]) {
			half.matches = graph.matches;
			if (changed)
				half.show(treeAround(view, this.labels, label, add), 0);
			half.ask(true);
			if (changed)
				requestAnimationFrame(() => half.home());
		}
		const { callers: { view: above }, callees: { view: below } } = this;
		const of = (tree, column) => tree[column].map((values) => values[0]);

		byId("middle").replaceChildren(panes.page.legend.swatch(this.labels.kind[label]),
			element("strong", { class: "name", text: panes.name(label) }),
			span("name faint", this.labels.shortModule(label)),
			span("", `total ${panes.amount(of(below, "total"))}`),
			span("", `self ${panes.amount(of(below, "self"))}`));
		byId("no-callers").hidden = above.count > 1;
		byId("no-callees").hidden = below.count > 1;
	}
}
