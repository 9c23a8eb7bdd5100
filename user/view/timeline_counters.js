// SPDX-License-Identifier: Apache-2.0
/*
 * Counters of the timeline: their values by column, how a value is written, and how a counter is
 * painted: a line that has every value of a column, above a paler area. A value holds until the
 * next one, so the line has no gap where a counter has values.
 */

const COUNTER_HEAD = 4, COUNTER_COLUMN = 32; // bytes, see user/view/window_counters.c
const LINE_HEIGHT = 1.5; // px, of a counter that does not change in a column
const LARGEST_SHOWN = 1e18; // as in user/analyze/quantities.c

const WANTED = "wanted"; // the lane of the number of threads that wanted a CPU

const isCounter = (lane) => lane === WANTED || /^c\d+$/.test(lane);

/* What a counter was in each column; least, most: NaN where it has no value. */
class CounterColumns {
	constructor(columns) {
		this.least = new Float64Array(columns).fill(NaN);
		this.most = new Float64Array(columns).fill(NaN);
		this.last = new Float64Array(columns).fill(NaN); // Infinity: it may be lost
		this.lost = new Uint8Array(columns);
	}

	get length() {
		return this.least.length;
	}

	set(at, { least, most, last, lost }) {
		this.least[at] = least;
		this.most[at] = most;
		this.last[at] = last;
		this.lost[at] = lost;
	}

	/* Let the columns from one to another be as the end of the one before. */
	hold(from, to) {
		const last = from ? this.last[from - 1] : NaN;
		const held = Number.isFinite(last) ? last : NaN;

		this.least.fill(held, from, to);
		this.most.fill(held, from, to);
		this.last.fill(last, from, to);
		this.lost.fill(Number(last === Infinity), from, to);
	}

	/* Return these as the columns from first on of more columns; the others have no value. */
	spread(first, columns) {
		const all = new CounterColumns(columns);

		for (const part of ["least", "most", "last", "lost"])
			all[part].set(this[part].subarray(0, columns - first), first);
		return all;
	}

	/* Return what is shown of a column: "4 MiB", or "4 MiB to 7 MiB"; "" without a value. */
	text(at, unit) {
		const least = this.least[at], most = this.most[at];

		if (Number.isNaN(least))
			return this.lost[at] ? "not known" : "";
		return least === most ? quantityText(unit, least)
			: `${quantityText(unit, least)} to ${quantityText(unit, most)}`;
	}
}

/* Read the columns of a counter from an answer; return them and where they end. */
function readCounter(bytes, at, columns) {
	const view = new DataView(bytes), made = new CounterColumns(columns);
	const count = at + COUNTER_HEAD <= bytes.byteLength ? view.getUint32(at, true) : NaN;
	let next = 0, from = at + COUNTER_HEAD;

	if (!(from + COUNTER_COLUMN * count <= bytes.byteLength))
		throw feedError();
	for (let i = 0; i < count; i++, from += COUNTER_COLUMN) {
		const number = view.getUint32(from, true);
		const [least, most, last] =
			[8, 16, 24].map((part) => view.getFloat64(from + part, true));

		if (number < next || number >= columns)
			throw feedError();
		made.hold(next, number);
		made.set(number, { least, most, last, lost: view.getUint32(from + 4, true) });
		next = number + 1;
	}
	made.hold(next, columns);
	return { made, end: from };
}

/* Round to a number of digits behind the point, a tie to the even digit, as printf() does. */
function fixed(x, digits) {
	const scaled = x * 10 ** digits, whole = Math.floor(scaled);

	return scaled - whole === 0.5 && whole % 2 === 0 ? (whole / 10 ** digits).toFixed(digits)
		: x.toFixed(digits);
}

/* Write a number with three digits, without a fraction of zero. */
function threeDigits(x) {
	const text = fixed(x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0);

	return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const roundedText = (x) => x >= 999.5 ? count(Math.floor(x + 0.5))
	: x > 0 && x < 0.005 ? "<0.01" : threeDigits(x);

/* Write a number of bytes in the largest unit of which there is one. */
function bytesText(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	let at = units.length - 1;

	while (at && bytes < 1024 ** at - 1024 ** (at - 1) / 2)
		at--;
	return `${threeDigits(bytes / 1024 ** at)} ${units[at]}`;
}

/* Write a value in a unit of the server, as quantity_show() does. */
function quantityText(unit, value) {
	const size = Math.abs(value), sign = value < 0 ? "-" : "";

	if (!(size <= LARGEST_SHOWN))
		return Number.isNaN(value) ? "not known" : value < 0 ? "very small" : "very large";
	if (unit === "bytes")
		return sign + bytesText(Math.floor(size));
	if (unit === "ns")
		return sign + duration(size);
	if (unit === "threads")
		return `${roundedText(size)} threads`;
	if (unit === "share")
		return `${sign}${roundedText(size * 100)} %`;
	return unit === "/s" ? `${sign}${roundedText(size)}/s` : sign + count(Math.floor(size));
}

/* Paints counters, one at a time. */
class CounterPainter {
	/* columns: of every counter; dots: device pixels in a px. */
	constructor(columns, dots, colours) {
		this.columns = columns;
		this.colours = colours;
		this.dot = Math.max(1, Math.round(dots));
		this.thick = Math.max(1, Math.round(LINE_HEIGHT * dots));
		this.low = new Int32Array(columns); // of the line, in pixels from the lowest one
		this.top = new Int32Array(columns); // behind it
	}

	/* Return the picture of a counter on its scale. */
	paint(values, high, { bottom, top }) {
		const { columns, colours, low, top: tops } = this, { of } = colours;
		const data = new ImageData(columns, high);
		const pixels = new Uint32Array(data.data.buffer);
		const line = colours.bar[of.counter], area = colours.upper[of.counter];

		this.measure(values, high, bottom, top > bottom ? top - bottom : 1);
		for (let row = 0, at = (high - 1) * columns; row < high; row++, at -= columns)
			for (let x = 0; x < columns; x++)
				pixels[at + x] = row < low[x] ? area : row < tops[x] ? line
					: values.lost[x] ? this.hatch(x, row) : colours.paper;
		return data;
	}

	/* Find where the line is in each column: from its least value to its largest one. */
	measure({ least, most }, high, bottom, range) {
		const { low, top, thick } = this, room = Math.max(0, high - thick);
		const place = (value) => Math.max(0, Math.min(room,
			Math.round((value - bottom) / range * room)));

		for (let x = 0; x < this.columns; x++) {
			low[x] = least[x] === least[x] ? place(least[x]) : 0; // NaN is none
			top[x] = most[x] === most[x] ? place(most[x]) + thick : 0;
		}
	}

	/* Return a pixel of a time in which a value may be lost. */
	hatch(x, row) {
		const { dot, colours: { stripe, upper, of } } = this;

		return (x + row) % (6 * dot) < 2 * dot ? stripe[of.unknown] : upper[of.unknown];
	}
}
