// SPDX-License-Identifier: Apache-2.0
/* Format times of the recording, and choose the steps of the axis. */

const TICK_ROOM = 96; // px, the least distance of two times on the axis
const AXIS_UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]; // sizes in ns

/* Return a round step of at least so many ns: 1, 2 or 5 times a power of ten. */
function roundStep(least) {
	const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));

	return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}

/* Return a base, a multiple of a thousand units of so many ns, with all of its digits. */
const baseText = (base, size) =>
	`from ${(base / 1e9).toFixed(Math.round(Math.log10(1e6 / size)))} s`;

/*
 * Return the times to mark, in ns, and their texts. Short steps late in a recording would have long
 * texts: they count from a base, which stands once beside the axis.
 */
function ticksOf({ from, to }, wide) {
	const step = roundStep((to - from) / wide * TICK_ROOM);
	const [size, unit] = AXIS_UNITS.find(([of]) => of <= step) ?? AXIS_UNITS.at(-1);
	const base = size === 1e9 ? 0 : Math.floor(from / (1e3 * size)) * 1e3 * size;
	const ticks = [], sign = base ? "+" : "";

	for (let at = Math.ceil((from - base) / step) * step; base + at <= to; at += step)
		ticks.push({ time: base + at, text: `${sign}${count(at / size)} ${unit}` });
	return { base: base ? baseText(base, size) : "", ticks };
}

/* Return a time with as many digits as differ within a range of this length, in ns. */
function momentText(time, span) {
	const digits = Math.min(9, Math.max(1, Math.ceil(2 - Math.log10(Math.max(1, span) / 1e9))));

	return `${(time / 1e9).toFixed(digits)} s`;
}

const rangeText = ({ from, to }) =>
	`${momentText(from, to - from)} to ${momentText(to, to - from)}`;

/* Read a range of the address, "FROM-TO" in ns; null if it is none of a recording this long. */
function parseRange(text, length) {
	const [, from, to] = /^(\d{1,16})-(\d{1,16})$/.exec(text)?.map(Number) ?? [];

	return from < to && from < length ? { from, to: Math.min(to, length) } : null;
}

/* Write a range for the address, in whole ns, at least one long. */
function writeRange({ from, to }) {
	const first = Math.floor(from);

	return `${first}-${Math.max(first + 1, Math.ceil(to))}`;
}
