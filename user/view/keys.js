// SPDX-License-Identifier: Apache-2.0
/* All keys, their actions, and their descriptions in the help. docs/page.md has the same table. */

/*
 * keys: values of KeyboardEvent.key; shown: their text in the help; what: the description; graph:
 * works only on the graph.
 */
const KEYS = [
	{ keys: ["ArrowLeft", "ArrowRight"], shown: "← →",
		what: "to the neighbours in the same row", graph: true,
		run: (page, key) => page.move(key === "ArrowLeft" ? "left" : "right") },
	{ keys: ["ArrowUp", "ArrowDown"], shown: "↑ ↓",
		what: "one row up or down: to the caller, or to the widest callee", graph: true,
		run: (page, key) =>
			page.move(key === "ArrowUp" === page.graph.upward ? "deeper" : "back") },
	{ keys: ["Enter", " "], shown: "Enter", what: "zoom into the selected frame",
		graph: true, run: (page) => page.zoomTo(page.graph.selected) },
	{ keys: ["Escape", "Backspace"], shown: "Esc, Backspace", what: "back to the view before",
		run: (page) => page.back() },
	{ keys: ["0"], shown: "0", what: "all of it: no zoom", run: (page) => page.zoomOut() },
	{ keys: ["/"], shown: "/", what: "search, by a regular expression",
		run: () => byId("search").select() },
	{ keys: ["n"], shown: "n", what: "next match", run: (page) => page.goMatch(1) },
	{ keys: ["N"], shown: "N", what: "previous match", run: (page) => page.goMatch(-1) },
	{ keys: ["1", "2", "3", "4"], shown: "1 2 3 4",
		what: "time on CPU, off CPU, both (wall); who ended the waits",
		run: (page, key) => page.modes.choose(Number(key) - 1) },
	{ keys: ["i"], shown: "i",
		what: "inverted: from the functions that took the time to their callers",
		run: (page) => byId("inverted").click() },
	{ keys: ["u"], shown: "u", what: "flames up or down", run: () => byId("upward").click() },
	{ keys: ["f"], shown: "f", what: "fold or unfold the chains of frames at the root",
		run: (page) => byId("unfolded").click() },
	{ keys: ["g"], shown: "g", what: "with or without the samples in collections of garbage",
		run: (page) => byId("nogc").click() },
	{ keys: ["t"], shown: "t", what: "graph or table",
		run: (page) => page.change({ table: !page.state.table, sandwich: "" }) },
	{ keys: ["s"], shown: "s",
		what: "sandwich: callers above, callees below the selected function, and back",
		run: (page) => byId(page.state.sandwich ? "as-graph" : "as-sandwich").click() },
	{ keys: ["c"], shown: "c", what: "copy a link to this view",
		run: () => byId("link").click() },
	{ keys: ["d"], shown: "d", what: "light or dark", run: () => byId("theme").click() },
	{ keys: ["?"], shown: "?", what: "this help", run: (page) => page.showHelp() },
];

/*
 * Run the action of a key; keys of the timeline go first while it has the focus.
 * Return whether there is one.
 */
function runKey(page, event) {
	if (event.ctrlKey || event.metaKey || event.altKey || byId("manual").open)
		return false;
	const typing = event.target.closest?.("input, select, textarea");
	const pressing = event.target.closest?.("button, summary, a") &&
		["Enter", " "].includes(event.key);

	if (typing && event.key === "Escape") {
		event.target.blur();
		byId(page.timeline?.holds(event.target) ? "names" : "canvas")
			.focus({ preventScroll: true });
		return true;
	}
	const key = page.timeline?.holds(event.target) &&
		LANE_KEYS.find(({ keys }) => keys.includes(event.key)) ||
		KEYS.find(({ keys }) => keys.includes(event.key));

	if (!key || typing || pressing || key.graph && (page.state.table || page.state.sandwich))
		return false;
	key.run(page, event.key);
	return true;
}

const HINTS = [
	"Every box is a function; its width is the time that passed in it and in all that it " +
		"called. Below (or above, with “Flames up”) stands what it called. From left to " +
		"right there is no time: the widest box comes first.",
	"Frames at the root that have one callee each stand folded in one box, with their " +
		"names. A click on its ▸ shows each of them in a row of its own.",
	"What a box does not pass on to boxes below it is its self time.",
	"Click a box to zoom into it; the browser's back goes back. The address holds the whole " +
		"view, so it can be kept or sent to somebody who has this file.",
	"“Sandwich” shows one function wherever it was called: the trees of its callers " +
		"above it and of its callees below it. A click on a frame there puts it into the " +
		"middle.",
	"Click a kind in the legend to hide it; the time of hidden frames stays with what called " +
		"them. With Ctrl only that kind is shown.",
	"Where waits were recorded, “On-CPU”, “Off-CPU” and “Wall” show the time of running, of " +
		"waiting, and of both. A frame has the colour of the class of wait to which more " +
		"than half of its time belongs, else it is grey; the stripe at its bottom shows " +
		"how its time divides. In “Wall”, waiting frames are hatched. Click a class in " +
		"the legend to leave its waits out; with Ctrl only that class is shown.",
	"A search looks at names of functions and modules and goes to the widest match; " +
		"Enter goes to the next by width. Its share counts time once, however often " +
		" a function stands in one stack.",
	"Functions too narrow to be drawn stand as one grey strip: nothing is left out of any sum.",
];

const LANE_HINTS = [
	"From left to right is time. A lane's bar is as high as the share of the time in which " +
		"it was busy: a lane that was busy at all has a bar, one that was busy " +
		"throughout has no ground. The ground's colour shows what it did else.",
	"Hatched time is not known: it was lost or not recorded.",
];

const HINT_OF_CHANGE = "Both recordings are shown as shares of their own totals. Red frames have " +
	"grown, blue ones shrunk, strong colours more so. “Width: both” shows also what is gone.";

/* Make the rows of a table of keys or gestures: pairs of a text and what it does. */
const helpRows = (pairs) => pairs.map(([shown, what]) => element("tr", {},
	element("th", { scope: "row" }, element("kbd", { text: shown })),
	element("td", { text: what })));

const keyTexts = (keys) => keys.map(({ shown, what }) => [shown, what]);

/* Say how the timeline is used, on pages that have one. */
function timelineHelp(page) {
	const pairs = isTouched() ? LANE_TOUCH : [...LANE_MOUSE, ...keyTexts(LANE_KEYS)];

	return page.timeline ? [element("h3", { text: "On the timeline" }),
		element("ul", {}, ...LANE_HINTS.map((text) => element("li", { text }))),
		element("table", {}, element("tbody", {}, ...helpRows(pairs))),
		element("h3", { text: "On the flame graph" })] : [];
}

function helpParts(page) {
	const rows = helpRows(isTouched() ? GESTURES : keyTexts(KEYS));
	const hints = page.data.before ? [...HINTS, HINT_OF_CHANGE] : HINTS;
	const origin = page.feed ? "skein view serves it from this machine."
		: "The page is one file and fetches nothing.";

	return [element("h2", { id: "manual-title", text: "How to read and use this page" }),
		...timelineHelp(page),
		element("ul", {}, ...hints.map((text) => element("li", { text }))),
		element("table", {}, element("tbody", {}, ...rows)),
		element("p", { class: "faint",
			text: `Made by skein ${page.data.skein}. ${origin}` }),
		element("button", { type: "button", text: "Close", autofocus: true,
			onclick: () => byId("manual").close() })];
}
