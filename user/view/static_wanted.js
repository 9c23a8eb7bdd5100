// SPDX-License-Identifier: Apache-2.0
/* How many threads wanted a CPU, of the states that the page holds: see user/lanes/wanted.c. */

const WANTING = [1, 2, 3]; // numbers of the states running, runnable, preempted
const NOT_KNOWN = 9; // of the state unknown

class WantedSums {
	/* from, to: ns from the base. */
	constructor(from, to, columns) {
		const sums = () => ({ parts: new Float64Array(columns + 1),
			whole: new Float64Array(columns + 1) });

		// with more columns than ns, several show the same one
		Object.assign(this, { from, to, shown: columns, count: Math.min(columns, to - from),
			wanting: sums(), unknown: sums() });
	}

	edge(column) {
		return Math.floor((this.to - this.from) * column / this.count);
	}

	column(time) {
		let column = Math.floor(time * this.count / (this.to - this.from));

		while (column + 1 < this.count && this.edge(column + 1) <= time)
			column++;
		while (column > 0 && this.edge(column) > time)
			column--;
		return column;
	}

	/* Add the states of a lane. */
	add(states, lane) {
		const { exact, walk } = states;

		for (let more = walk.seek(exact, exact.lanes.get(lane), this.from);
			more && walk.begin < this.to; more = walk.next()) {
			const state = walk.key === NOTHING ? 0 : states.stateOf[walk.key];
			const to = WANTING.includes(state) ? this.wanting
				: state === NOT_KNOWN ? this.unknown : null;

			if (to)
				this.put(to, Math.max(walk.begin, this.from) - this.from,
					Math.min(walk.end, this.to) - this.from);
		}
	}

	put({ parts, whole }, time, end) {
		if (!(time < end))
			return;
		const first = this.column(time), last = this.column(end - 1);

		if (first === last) {
			parts[first] += end - time;
			return;
		}
		parts[first] += this.edge(first + 1) - time;
		parts[last] += end - this.edge(last);
		whole[first + 1]++;
		whole[last]--;
	}

	/* Return the mean of each column. */
	columns(lost) {
		const { wanting: of, unknown, count, shown } = this;
		const made = new CounterColumns(count);
		let threads = 0, missing = 0;

		for (let i = 0; i < count; i++) {
			const length = this.edge(i + 1) - this.edge(i);

			threads += of.whole[i];
			missing += unknown.whole[i];
			const mean = threads + of.parts[i] / length;

			made.set(i, lost || missing + unknown.parts[i] / length > mean
				? { least: NaN, most: NaN, last: Infinity, lost: 1 }
				: { least: mean, most: mean, last: mean, lost: 0 });
		}
		return count < shown ? this.repeat(made) : made;
	}

	repeat(made) {
		const { count, shown } = this, all = new CounterColumns(shown);

		for (let i = 0; i < shown; i++) {
			const at = Math.floor(count * i / shown);

			for (const part of ["least", "most", "last", "lost"])
				all[part][i] = made[part][at];
		}
		return all;
	}
}
