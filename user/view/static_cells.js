// SPDX-License-Identifier: Apache-2.0
/*
 * Compute the strokes of lanes from their states, which the page holds (static_runs.js), as the
 * server of `skein view` does: user/trace/window.c makes cells of states, user/lanes/cells.c
 * strokes of cells, user/lanes/join.c joins those of several lanes. A page that holds cells has
 * those of each length that the server would make, from the shortest on: none is made of others,
 * because they are rounded.
 */

const FINEST_CELL = 10; // a cell of this shift, of 1.024 us, is the shortest
// from this shift on there is every second one, up to the longest; in a trace of an older version
// the server has that from shorter cells on, and both are true
const STORED_CELL = 22;
const LONGEST_CELL = 52;
const STROKE_FULL = 127;

/* Return the shift of the cells of a range that has that many columns. */
function cellShift(length, columns) {
	const most = Math.floor(length / columns);
	let shift = FINEST_CELL;

	while (shift < LONGEST_CELL && 2 ** (shift + 1) <= most)
		shift++;
	return shift < STORED_CELL ? shift : shift - (shift - STORED_CELL) % 2;
}

/* Cells of one lane: by cell its activity, its key (NOTHING: none) and its thread. */
class Cells {
	constructor(first, width, shift) {
		this.first = first; // number of the first one
		this.shift = shift;
		this.length = 2 ** shift;
		this.activity = new Uint8Array(width);
		this.key = new Uint8Array(width);
		this.thread = new Uint32Array(width);
	}

	get width() {
		return this.key.length;
	}

	/* Make the cells of a lane. */
	make(states, set, lane) {
		const { length, first, width } = this, { walk } = states;
		const begin = first * length, stop = begin + width * length;
		const put = set.shift ? this.copy : this.put;

		this.activity.fill(0);
		this.key.fill(NOTHING);
		this.thread.fill(0);
		this.touched = [];
		this.ran = [];
		this.open = -1;
		for (let more = walk.seek(set, lane, begin); more && walk.begin < stop;
			more = walk.next()) {
			const from = walk.begin > begin ? walk.begin : begin;
			const to = walk.end < stop ? walk.end : stop;

			if (walk.key !== NOTHING)
				put.call(this, states, walk.key, walk.thread, from, to);
		}
		this.close(states);
	}

	/* Copy equal cells, whose number is that of the walk. */
	copy({ walk: { share } }, key, thread, from, to) {
		const at = from / this.length - this.first, end = to / this.length - this.first;

		this.key.fill(key, at, end);
		this.activity.fill(share, at, end);
		this.thread.fill(thread, at, end);
	}

	/* Add a state from a time to another one to the cells that it touches. */
	put(states, key, thread, from, to) {
		const { length } = this, number = Math.floor(from / length) - this.first;
		const next = (this.first + number + 1) * length;

		if (to < next) {
			this.add(states, number, key, thread, to - from);
			return;
		}
		const last = Math.floor(to / length) - this.first;
		const whole = next - from === length ? number : number + 1;
		const rest = to - (this.first + last) * length;

		if (whole > number)
			this.add(states, number, key, thread, next - from);
		if (last > whole)
			this.cover(states, whole, last, key, thread);
		if (rest > 0)
			this.add(states, last, key, thread, rest);
	}

	/* Set the cells from one to another that are in one state throughout. */
	cover({ stateOf }, from, to, key, thread) {
		const runs = stateOf[key] === RUNS;

		this.key.fill(key, from, to);
		if (runs) {
			this.activity.fill(CELL_FULL, from, to);
			this.thread.fill(thread, from, to);
		}
	}

	/* Add time to the sums of a cell, and round those of the one before. */
	add(states, number, key, thread, time) {
		const { sumsOfKey, sumsOfThread } = states;

		if (this.open !== number) {
			this.close(states);
			this.open = number;
		}
		if (!sumsOfKey[key])
			this.touched.push(key);
		sumsOfKey[key] += time;
		if (!thread)
			return;
		if (!sumsOfThread[thread])
			this.ran.push(thread);
		sumsOfThread[thread] += time;
	}

	/* Round the sums of the open cell, and clear them. */
	close(states) {
		const { touched, ran, length, open: number } = this;
		const { sumsOfKey, sumsOfThread, stateOf } = states;

		if (!touched.length)
			return;
		let busy = 0;

		for (const key of touched)
			busy += stateOf[key] === RUNS ? sumsOfKey[key] : 0;
		this.activity[number] = this.share(busy, length);
		this.key[number] = touched.length === 1 ? touched[0] : longestKey(states, touched);
		if (ran.length)
			this.thread[number] = ran.length === 1 ? ran[0]
				: longestThread(states, ran);
		for (const key of touched)
			sumsOfKey[key] = 0;
		for (const thread of ran)
			sumsOfThread[thread] = 0;
		touched.length = ran.length = 0;
	}

	share(busy, length) {
		if (!busy || busy >= length)
			return busy ? CELL_FULL : 0;
		return Math.max(1, Math.min(CELL_FULL - 1,
			Math.floor((busy * CELL_FULL + length / 2) / length)));
	}
}

/*
 * Return the key of the state that lasted longest with all its waits, of equals the lower one, and
 * of the wait that lasted longest in it.
 */
function longestKey({ sumsOfKey, stateOf, waitOf }, touched) {
	const times = new Map();
	let state = 0, best = NOTHING;

	for (const key of touched)
		times.set(stateOf[key], (times.get(stateOf[key]) ?? 0) + sumsOfKey[key]);
	for (const [one, time] of times)
		if (!state || time > times.get(state) || time === times.get(state) && one < state)
			state = one;
	for (const key of touched)
		if (stateOf[key] === state && (best === NOTHING ||
			sumsOfKey[key] > sumsOfKey[best] ||
			sumsOfKey[key] === sumsOfKey[best] && waitOf[key] < waitOf[best]))
			best = key;
	return best;
}

/* Return the thread that ran longest, of equals the one that is older. */
function longestThread({ sumsOfThread, rankOfThread }, ran) {
	return ran.reduce((best, one) => sumsOfThread[one] > sumsOfThread[best] ||
		sumsOfThread[one] === sumsOfThread[best] && rankOfThread[one] < rankOfThread[best]
		? one : best);
}

/* Times by fill, of which few are not 0. */
class FillVotes {
	constructor() {
		this.time = new Float64Array(256);
		this.used = [];
	}

	add(fill, time) {
		if (!this.time[fill])
			this.used.push(fill);
		this.time[fill] += time;
	}

	/* Return the fill with the most time, of equals the first one; then clear the times. */
	take() {
		const { time, used } = this;
		let best = 0;

		for (const fill of used)
			if (time[fill] > time[best] || time[fill] === time[best] && fill < best)
				best = fill;
		for (const fill of used)
			time[fill] = 0;
		used.length = 0;
		return best;
	}
}

/* Makes strokes of cells. fills: the numbers of some fills, as the trace names them. */
class StrokeMaker {
	constructor(states, fills) {
		this.states = states;
		this.fills = fills;
		this.bars = new FillVotes();
		this.grounds = new FillVotes();
	}

	/* Return level, bar and ground of each column of a range of a lane. */
	strokes(name, from, to, columns) {
		const wanted = cellShift(to - from, columns), set = this.states.setFor(wanted);
		const shift = set.shift || wanted, length = 2 ** shift;
		const lane = set.lanes.get(name);
		const first = Math.floor(from / length);
		const width = Math.floor((to - 1) / length) - first + 1;
		const out = new Uint8Array(STROKE_SIZE * columns);

		if (this.cells?.first !== first || this.cells.width !== width ||
			this.cells.shift !== shift)
			this.cells = new Cells(first, width, shift);
		this.cells.make(this.states, set, lane);
		const whole = Math.floor((to - from) / columns), rest = (to - from) % columns;
		// exact: no product is over 2^53
		const edge = (column) =>
			from + whole * column + Math.floor(rest * column / columns);

		for (let column = 0, begin = from; column < columns; column++) {
			const end = edge(column + 1);

			const stop = Math.max(end, begin + 1), at = STROKE_SIZE * column;

			if (!this.decideEqual(lane, begin, stop, out, at))
				this.decide(lane, begin, stop, out, at);
			begin = end;
		}
		return out;
	}

	/*
	 * Write the stroke of a part of the time if all of its cells are equal and of one state,
	 * which most are. Return whether they are.
	 */
	decideEqual(lane, begin, end, out, at) {
		const { cells: { activity, key, thread, length, first }, fills } = this;
		const from = Math.floor(begin / length) - first;
		const last = Math.floor((end - 1) / length) - first, one = key[from];

		if (activity[from] && activity[from] !== CELL_FULL)
			return false;
		for (let i = from + 1; i <= last; i++)
			if (key[i] !== one || activity[i] !== activity[from] ||
				thread[i] !== thread[from])
				return false;
		if (activity[from]) {
			out[at] = STROKE_FULL;
			out[at + 1] = lane.cpu ? this.states.fillOfThread[thread[from]]
				: fills.running;
		} else {
			out[at + 2] = one === NOTHING ? fills.none : this.states.fillOf[one];
		}
		return true;
	}

	/* Write the stroke of a part of the time. */
	decide(lane, begin, end, out, at) {
		const { cells, cells: { length, first }, bars, grounds, fills } = this;
		const { stateOf, fillOf, fillOfThread } = this.states;
		let busy = 0, covered = 0, full = true, number = Math.floor(begin / length) - first;

		for (; number < cells.width; number++) {
			const start = (first + number) * length;
			const overlap = Math.min(end, start + length) - Math.max(begin, start);

			if (overlap <= 0)
				break;
			const activity = cells.activity[number], key = cells.key[number];
			const ran = overlap * activity; // in 127ths of ns, which are exact

			covered += overlap;
			busy += ran;
			full &&= activity === CELL_FULL;
			if (ran)
				bars.add(lane?.cpu ? fillOfThread[cells.thread[number]]
					: fills.running, ran);
			if (key === NOTHING)
				grounds.add(fills.none, overlap * CELL_FULL - ran);
			else if (stateOf[key] !== RUNS)
				grounds.add(fillOf[key], overlap * CELL_FULL - ran);
		}
		const whole = (end - begin) * CELL_FULL;
		const unknown = grounds.time[fills.unknown] * 2 > whole;
		const bar = bars.take(), ground = grounds.take();

		if (unknown) {
			out[at + 2] = fills.unknown;
			return;
		}
		out[at + 1] = bar;
		out[at + 2] = ground;
		if (busy > 0)
			out[at] = full && covered === end - begin ? STROKE_FULL
				: Math.max(1, Math.min(STROKE_FULL - 1,
					Math.floor(busy * STROKE_FULL / whole + 0.5)));
	}

	/* Return the strokes of what a runtime did, from acts that do not overlap. */
	acts(name, from, to, columns) {
		const { states } = this, each = (to - from) / columns;
		const votes = Array.from({ length: columns }, () => new Map());
		const out = new Uint8Array(STROKE_SIZE * columns);
		const act = states.find(name, from);

		for (let more = act !== null; more && act.begin < to; more = act.next())
			if (act.key !== NOTHING)
				this.voteForAct(votes, each, states.fillOf[act.key],
					[Math.max(0, act.begin - from),
						Math.min(to, act.end) - from]);
		votes.forEach((times, i) => this.decideActs(times, each, out, STROKE_SIZE * i));
		return out;
	}

	/* Add an act to the columns of a length that it touches. */
	voteForAct(votes, each, fill, [begin, end]) {
		for (let i = Math.floor(begin / each); i < votes.length && each * i < end; i++) {
			const time = Math.min(end, each * (i + 1)) - Math.max(begin, each * i);

			votes[i].set(fill, (votes[i].get(fill) ?? 0) + Math.max(0, time));
		}
	}

	decideActs(times, length, out, at) {
		const fills = [...times].sort(([a], [b]) => a - b);
		const sum = fills.reduce((all, [, time]) => all + time, 0);
		const [bar] = fills.reduce((best, one) => one[1] > best[1] ? one : best, [0, 0]);
		const level = sum / length * STROKE_FULL;

		out[at + 1] = bar;
		if (sum > 0)
			out[at] = level < 1 ? 1 : level > STROKE_FULL - 0.5 ? STROKE_FULL
				: Math.floor(level);
	}
}

/* Joins the strokes of lanes to those of one: of the threads of a process, or of all CPUs. */
class StrokeJoiner {
	constructor(columns, { fills, solid }) {
		Object.assign(this, { columns, fills, solid, count: 0 });
		this.sum = new Uint32Array(columns);
		this.full = new Uint32Array(columns);
		this.unknown = new Uint32Array(columns);
		this.bar = new Uint8Array(columns);
		this.ground = new Uint8Array(columns);
	}

	/* How much a ground says about why something did not run. */
	weight(ground) {
		const { runnable, unknown, none } = this.fills;

		return ground === runnable ? 4 : this.solid[ground] ? 3 : ground === unknown ? 2
			: Number(ground !== none);
	}

	add(strokes) {
		this.count++;
		for (let column = 0, at = 0; column < this.columns; column++, at += STROKE_SIZE) {
			const level = strokes[at], ground = strokes[at + 2];

			this.sum[column] += level;
			this.full[column] += level === STROKE_FULL;
			this.unknown[column] += ground === this.fills.unknown;
			const gain = this.weight(ground) - this.weight(this.ground[column]);

			if (gain > 0 || !gain && ground < this.ground[column])
				this.ground[column] = ground;
			if (level)
				this.bar[column] = strokes[at + 1];
		}
	}

	/* parallel: of all CPUs, of which the level is the mean. */
	strokes(parallel) {
		const { columns, count, fills } = this, out = new Uint8Array(STROKE_SIZE * columns);

		for (let column = 0, at = 0; column < columns; column++, at += STROKE_SIZE) {
			const mean = parallel && count > 0;
			const sum = mean ? Math.floor((this.sum[column] + count - 1) / count)
				: this.sum[column];
			const full = mean ? this.full[column] === count : this.full[column] > 0;

			out[at] = full ? STROKE_FULL : Math.min(sum, STROKE_FULL - 1);
			out[at + 1] = count === 1 ? this.bar[column] : fills.running;
			out[at + 2] = !mean ? this.ground[column]
				: this.unknown[column] * 2 > count ? fills.unknown : fills.none;
		}
		return out;
	}
}
