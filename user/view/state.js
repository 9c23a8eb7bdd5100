// SPDX-License-Identifier: Apache-2.0
/*
 * Keep the shown state in the address after '#', so that the browser's history covers views and a
 * link restores one. Frames are identified by the hashes of the names on their path from the
 * root, so a link also works for another recording as far as its functions are the same.
 */

const DEFAULTS = {
	event: "", split: "program", width: "", order: "weight", colour: "", inverted: false,
	upward: false, unfolded: false, full: false, table: false, sandwich: "", hidden: 0,
	waits: 0, nogc: false, search: "", zoom: "", select: "",
	// of the timeline: ranges as "FROM-TO" in ns, keys of open processes, a part of names,
	// what lanes of threads show, how two traces are aligned
	view: "", range: "", lane: "", open: "", lanes: "", by: "", align: "",
};

/* Write only values that differ from the defaults. */
function stateText(state) {
	const parts = new URLSearchParams();

	for (const [key, usual] of Object.entries(DEFAULTS))
		if (state[key] !== usual)
			parts.set(key, state[key] === true ? "1" : state[key]);
	return parts.toString();
}

/* events: the names that there are, or null where data come later. */
function parseState(text, { events, widths }) {
	const parts = new URLSearchParams(text.replace(/^#/, "")), state = { ...DEFAULTS };

	for (const [key, usual] of Object.entries(DEFAULTS)) {
		const value = parts.get(key);

		if (value === null)
			continue;
		state[key] = typeof usual === "boolean" ? value === "1"
			: typeof usual === "number" ? Math.max(0, parseInt(value, 10) || 0) : value;
	}
	if (events && !events.includes(state.event))
		state.event = "";
	if (!Object.hasOwn(SPLITS, state.split))
		state.split = DEFAULTS.split;
	if (!widths.includes(state.width))
		state.width = "";
	if (state.colour !== "module")
		state.colour = "";
	state.hidden &= (1 << KIND.group) - 1;
	state.waits &= 0xffff;
	return state;
}

/* Return the path to a node; "" for the root. */
function pathOf(view, labels, node) {
	const path = [];

	for (; node > 0; node = view.parent[node])
		path.push(labels.hash(view.label[node]));
	return path.reverse().join(".");
}

/* Return the node that a path leads to, as far as the path exists. */
function nodeAt(view, labels, path) {
	let node = 0;

	for (const hash of path ? path.split(".") : []) {
		let child = node + 1;

		while (child < view.end[node] && labels.hash(view.label[child]) !== hash)
			child = view.end[child];
		if (child >= view.end[node])
			break;
		node = child;
	}
	return node;
}

/*
 * The state in the address. change() adds an entry to the history, unless the change is a detail.
 */
class History {
	constructor(parse, show) {
		this.parse = parse;
		this.show = show;
		// number of this page's history entries before the current one
		this.depth = history.state?.depth ?? 0;
		this.state = parse(location.hash);
		addEventListener("hashchange", () => this.follow());
	}

	follow() {
		const state = this.parse(location.hash);

		if (stateText(state) === stateText(this.state))
			return;
		this.depth = history.state?.depth ?? 0;
		this.state = state;
		this.show(state);
	}

	change(changes, detail = false) {
		const state = { ...this.state, ...changes }, text = stateText(state);

		if (text === stateText(this.state))
			return;
		this.state = state;
		if (detail) {
			location.replace(`#${text}`);
		} else {
			location.hash = text;
			this.depth++;
		}
		history.replaceState({ depth: this.depth }, "");
		this.show(state);
	}

	/* Show the state that a page begins with. */
	reset() {
		this.state = this.parse("");
		location.hash = "";
		this.depth++;
		history.replaceState({ depth: this.depth }, "");
		this.show(this.state);
	}

	/* Return to the previous view; false if there is none. */
	back() {
		if (this.depth === 0)
			return false;
		history.back();
		return true;
	}
}
