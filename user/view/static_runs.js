// SPDX-License-Identifier: Apache-2.0
/*
 * The states of lanes that the page holds, in the columns that user/view/embed.c writes: exact
 * ones, and cells of several lengths. Columns stay as they are, since their bytes are a third of
 * the numbers: a walk reads them from the nearest of the places that are noted when the page loads.
 * All times are in ns from the base, before which nothing is known; it is a multiple of the longest
 * cell.
 */

const CELL_FULL = 127;
const RUNS = 1; // number of the state of a lane that is busy
const NOTHING = 255; // key of a time of which nothing is known
const MORE = 128; // bit of a key: of exact states such a time comes before, a cell has its share
const NOTED = 64; // runs from one place that is noted to the next

/* Reads the runs of a lane one after the other: times of one state, or equal cells. */
class Walk {
	constructor({ bytes, stateOf }) {
		Object.assign(this, { bytes, stateOf, cpu: false, exact: true, unit: 1 });
		this.at = this.stop = this.lengths = this.threads = this.shares = 0;
		this.rest = -1; // key of which the time before was read; -1: none
		this.begin = this.end = this.share = this.thread = 0;
		this.key = NOTHING;
	}

	/* Begin at a place: a time and the bytes of the next key, length, thread and share. */
	place(set, lane, time, [at, lengths, threads, shares]) {
		Object.assign(this, { at, lengths, threads, shares, rest: -1, end: time,
			stop: lane.keys + lane.count, cpu: lane.cpu, exact: !set.shift,
			unit: set.shift ? 2 ** set.shift : 1 });
	}

	/* Read a number of seven bits a byte, the low ones first. */
	length() {
		const { bytes } = this;
		let at = this.lengths, byte = bytes[at++], value = byte & 127;

		// nearly all numbers are under 2^28, and behind the end there is nothing over 127
		for (let shift = 7; byte > 127 && shift < 28; shift += 7) {
			byte = bytes[at++];
			value |= (byte & 127) << shift;
		}
		for (let factor = 2 ** 28; byte > 127; factor *= 128) {
			byte = bytes[at++];
			value += (byte & 127) * factor;
		}
		this.lengths = at;
		return value;
	}

	number() {
		const { bytes } = this;
		let at = this.threads, byte = bytes[at++], value = byte & 127;

		for (let factor = 128; byte > 127; factor *= 128) {
			byte = bytes[at++];
			value += (byte & 127) * factor;
		}
		this.threads = at;
		return value;
	}

	/* Read the next run; return whether there is one. */
	next() {
		let one = this.rest;

		if (one < 0) {
			if (this.at === this.stop)
				return false;
			one = this.bytes[this.at++];
		}
		this.begin = this.end;
		this.end += this.length() * this.unit;
		this.thread = 0;
		if (one >= MORE && this.exact) {
			this.rest = one - MORE;
			this.key = NOTHING;
			this.share = 0;
			return true;
		}
		this.rest = -1;
		this.key = one & ~MORE;
		this.share = one >= MORE ? this.bytes[this.shares++]
			: this.stateOf[this.key] === RUNS ? CELL_FULL : 0;
		if (this.cpu && this.share)
			this.thread = this.number();
		return true;
	}

	/* Go to the run of a lane at a time; return whether the lane goes on until then. */
	seek(set, lane, time) {
		if (!lane?.count)
			return false;
		let low = lane.note, high = lane.note + Math.ceil(lane.count / NOTED);

		while (high - low > 1) {
			const middle = (low + high) >> 1;

			if (set.times[middle] <= time)
				low = middle;
			else
				high = middle;
		}
		this.place(set, lane, set.times[low],
			[lane.keys + (low - lane.note) * NOTED, set.lengthsAt[low],
				set.threadsAt[low], set.sharesAt[low]]);
		while (this.next())
			if (this.end > time)
				return true;
		return false;
	}
}

/* The runs of all lanes: exact ones, or cells of one length. */
class RunSet {
	/* part: what user/view/embed.c says of the columns; at: their first byte. */
	constructor(states, names, { shift, counts, lengths, threads, shares }, at) {
		let keys = at, note = 0;

		this.shift = shift; // of cells of 2^shift ns; 0: exact states
		this.lanes = new Map();
		counts.forEach((count, i) => {
			this.lanes.set(names[i], { keys, count, note, cpu: i < states.cpus });
			keys += count;
			note += Math.ceil(count / NOTED);
		});
		this.count = keys - at;
		this.ends = [keys + lengths, keys + lengths + threads,
			keys + lengths + threads + shares];
		if (!(keys >= at && this.ends[2] <= states.bytes.length))
			throw new RangeError("the columns have another length");
		this.times = new Float64Array(note);
		this.lengthsAt = new Uint32Array(note);
		this.threadsAt = new Uint32Array(note);
		this.sharesAt = new Uint32Array(note);
		this.note(states, [keys, this.ends[0], this.ends[1]]);
	}

	/* Note places, and check all that walks will read. */
	note(states, [lengths, threads, shares]) {
		const { ends } = this, walk = new Walk(states);

		Object.assign(walk, { lengths, threads, shares });
		for (const lane of this.lanes.values())
			this.noteLane(states, lane, walk);
		if (walk.lengths !== ends[0] || walk.threads !== ends[1] || walk.shares !== ends[2])
			throw new RangeError("the columns have another length");
	}

	noteLane({ stateOf, fillOfThread }, lane, walk) {
		let { note } = lane, next = lane.keys;

		walk.place(this, lane, 0,
			[lane.keys, walk.lengths, walk.threads, walk.shares]);
		do {
			if (walk.at === next && walk.at < walk.stop && walk.rest < 0) {
				this.times[note] = walk.end;
				this.lengthsAt[note] = walk.lengths;
				this.threadsAt[note] = walk.threads;
				this.sharesAt[note++] = walk.shares;
				next += NOTED;
			}
			if (!(walk.key < stateOf.length || walk.key === NOTHING) ||
				!(walk.thread < fillOfThread.length) || walk.share > CELL_FULL)
				throw new RangeError("no such key or thread");
		} while (walk.next());
	}
}

class States {
	/* head: what user/view/embed.c says of the columns; cpus: the number of lanes of CPUs. */
	constructor(head, bytes, cpus) {
		let at = 0;

		Object.assign(this, { bytes, cpus });
		this.readKeys(head.keys);
		this.fillOfThread = Uint8Array.from(head.threads.filter((_, i) => i % 3 === 0));
		this.rankOfThread = Uint32Array.from(head.threads.filter((_, i) => i % 3 === 1));
		this.laneOfThread = head.threads.filter((_, i) => i % 3 === 2);
		this.sets = head.sets.map((part) => {
			const set = new RunSet(this, head.lanes, part, at);

			[, , at] = set.ends;
			return set;
		});
		[this.exact, ...this.cells] = this.sets; // the shortest cells first
		this.count = this.sets.reduce((sum, { count }) => sum + count, 0);
		if (at !== (head.times_at ?? bytes.length)) // the columns of counters follow
			throw new RangeError("the columns have another length");
		this.walk = new Walk(this);
		this.sumsOfKey = new Float64Array(MORE);
		this.sumsOfThread = new Float64Array(this.fillOfThread.length);
	}

	readKeys(keys) {
		const column = (at) => keys.filter((_, i) => i % 4 === at);

		this.stateOf = Uint8Array.from(column(0));
		this.waitOf = Uint8Array.from(column(1));
		this.fillOf = Uint8Array.from(column(2));
		this.wordsOf = column(3);
	}

	/* Return the set of cells of a length or, if there are none, of the nearest one. */
	setFor(shift) {
		const { cells } = this, longer = cells.findIndex((set) => set.shift >= shift);

		return !cells.length ? this.exact : longer < 0 ? cells.at(-1) : cells[longer];
	}

	/* Return a walk at the exact run of a lane at a time; null if the lane ends before. */
	find(name, time) {
		const { exact, walk } = this;

		return walk.seek(exact, exact.lanes.get(name), time) ? walk : null;
	}
}
