// SPDX-License-Identifier: Apache-2.0
/*
 * The counters of a page without a server: their points are in the page, and columns are made of
 * them as user/lanes/counter_columns.c does. Times are in ns from the base.
 */

const VALUE_SIZE = 8; // bytes of a value

/* Read numbers of seven bits a byte, the low ones first. */
class Numbers {
	constructor(bytes, at, end) {
		Object.assign(this, { bytes, at, end });
	}

	next() {
		const { bytes } = this;
		let value = 0, factor = 1, byte = 128;

		for (; byte > 127 && this.at < this.end; factor *= 128) {
			byte = bytes[this.at++];
			value += (byte & 127) * factor;
		}
		return value;
	}

	/* Check that all was read. */
	check() {
		if (this.at !== this.end)
			throw new RangeError("the columns have another length");
	}
}

class StaticCounters {
	/* head: what user/view/embed_counters.c says of the columns. */
	constructor(head, bytes) {
		const { counters = [], times_at: from = bytes.length,
			values_at: values = bytes.length } = head;
		const times = new Numbers(bytes, from, values);
		const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		let at = values;

		this.lanes = new Map();
		for (let i = 0; i + 1 < counters.length; i += 2) {
			const made = this.read(times, view, at, counters[i + 1]);

			this.lanes.set(counters[i], made);
			at += VALUE_SIZE * counters[i + 1];
		}
		times.check();
		if (at !== bytes.length)
			throw new RangeError("the columns have another length");
	}

	/* Read the points of one counter; the values are behind all times. */
	read(times, view, at, count) {
		const made = { times: new Float64Array(count), values: new Float64Array(count) };
		let time = 0;

		for (let i = 0; i < count; i++) {
			time += times.next();
			made.times[i] = time;
			made.values[i] = view.getFloat64(at + VALUE_SIZE * i, true);
		}
		return made;
	}

	/* Return the number of points before a time. */
	before({ times }, time) {
		let low = 0, high = times.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (times[middle] < time)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/* Return what a counter was in each column of a range. */
	columns(lane, from, to, columns) {
		const of = this.lanes.get(lane), made = new CounterColumns(columns);
		const whole = Math.floor((to - from) / columns), rest = (to - from) % columns;

		if (!of)
			return made;
		for (let i = 0, begin = from, at = this.before(of, from); i < columns; i++) {
			const end = from + whole * (i + 1) + Math.floor(rest * (i + 1) / columns);
			const next = this.column(of, made, i,
				{ begin, end: Math.max(end, begin + 1), at });

			at = end > begin ? next : at; // else the next column shows the same time
			begin = end;
		}
		return made;
	}

	/* Make the column of a time, of which `at` is the first point; return that behind it. */
	column({ times, values }, made, i, { begin, end, at }) {
		const column = { least: NaN, most: NaN, last: NaN, lost: 0 };
		const add = (value) => {
			column.last = value;
			column.lost ||= Number(value === Infinity);
			if (!Number.isFinite(value))
				return;
			column.least = column.least <= value ? column.least : value;
			column.most = column.most >= value ? column.most : value;
		};

		if (at && !(times[at] <= begin))
			add(values[at - 1]);
		for (; times[at] < end; at++)
			add(values[at]);
		made.set(i, column);
		return at;
	}

	/* Return what the server answers of a moment. first, end: of the recording. */
	at(lane, time, { first, end }, { name, unit, total }) {
		const of = this.lanes.get(lane);

		if (!of)
			return null;
		const next = this.before(of, time + 1);
		const from = Math.max(first, next ? of.times[next - 1] : first) - first;
		const to = Math.min(end, of.times[next] ?? end) - first;
		const facts = [...this.facts(next ? of.values[next - 1] : NaN, unit, total),
			["from", secondsText(from)], ["to", secondsText(to)],
			["length", duration(to - from)]];

		return { title: name, facts, links: [], from, to };
	}

	facts(value, unit, total) {
		const facts = [["value", value === Infinity ? "not known: one may be lost"
			: Number.isFinite(value) ? quantityText(unit, value) : "none"]];

		if (!Number.isFinite(value))
			return facts;
		if (unit === "bytes")
			facts.push(["exactly", `${quantityText("", value)} bytes`]);
		if (total)
			facts.push(["it is", "the mean rate of a total until its next value"]);
		return facts;
	}
}
