// SPDX-License-Identifier: Apache-2.0
/* Make elements, and format numbers as text. Names become text nodes only. */

const byId = (id) => document.getElementById(id);

/* Make an element; properties become attributes, except text and on... (listeners). */
function element(tag, properties = {}, ...children) {
	const made = document.createElement(tag);

	for (const [key, value] of Object.entries(properties)) {
		if (key === "text")
			made.textContent = value;
		else if (key.startsWith("on"))
			made.addEventListener(key.slice(2), value);
		else if (value !== false && value !== undefined)
			made.setAttribute(key, value === true ? "" : value);
	}
	made.append(...children);
	return made;
}

/* Make a span in a style of page.css. */
const span = (style, text) => element("span", { class: style, text });

/*
 * Invisible characters and characters that change the direction of text, which could disguise a
 * name.
 */
const UNSEEN = new RegExp("[\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
	"\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff" +
	"\\uffa0\\ufff0-\\ufffb]", "g");

const LONGEST = 2000; // most characters of a name that are shown

/* Make a text displayable: never empty, and of limited length. */
function visible(text) {
	const shown = text.slice(0, LONGEST).replace(UNSEEN, "\ufffd");

	if (text.length > LONGEST)
		return `${shown}… (${text.length} characters)`;
	return shown.trim() ? shown : "[no name]";
}

function percent(part, whole) {
	const share = whole ? 100 * part / whole : 0;

	/* only the exact whole is shown as 100 % */
	if (share > 99.9 && share < 100)
		return "> 99.9 %";
	return share > 0 && share < 0.01 ? "< 0.01 %" : `${share.toFixed(share < 10 ? 2 : 1)} %`;
}

const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;

/* Format a difference of shares in percentage points. */
function points(difference) {
	const sign = difference > 0 ? "+" : difference < 0 ? "−" : "±";

	return `${sign}${(100 * Math.abs(difference)).toFixed(2)} pp`;
}

const count = (n) => n.toLocaleString("en-US", { maximumFractionDigits: 0 });

function plural(n, word, words = `${word}s`) {
	return `${count(n)} ${n === 1 ? word : words}`;
}

/* Count the samples of an event: those of waits and of probes are stacks, of what was chosen. */
function samplesText(n, event) {
	return plural(n, [OF.waits, OF.wakers, OF.hits].includes(event?.of) ? "stack" : "sample");
}

const UNITS = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"]]; // sizes in ns

function duration(ns) {
	for (const [size, unit] of UNITS)
		if (ns >= size)
			return `${ns >= 100 * size ? count(ns / size)
				: (ns / size).toPrecision(3)} ${unit}`;
	return `${count(ns)} ns`;
}

/* Format a weight in the unit of its event. */
function weight(value, event) {
	return event.unit === "ns" ? duration(value) : count(value);
}

/* Format a time stamp, ns since 1970, as UTC. */
function utc(ns) {
	const when = new Date(ns / 1e6);

	if (Number.isNaN(when.getTime()))
		return "unknown";
	return `${when.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/* Compute a short text of an FNV-1a hash (32 bits), by which links identify frames. */
function shortHash(text) {
	let hash = 0x811c9dc5;

	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return (hash >>> 0).toString(36);
}
