// SPDX-License-Identifier: Apache-2.0
/*
 * The samples of the page with their times, of which it makes the flame graph of a part of the time
 * (user/export/html_times.c writes them). They are unpacked when the first part is asked for.
 */

class Samples {
	/* side: the page's profile; texts: the nodes that have the columns. */
	constructor({ samples, places, sums, parent, threads }, texts) {
		Object.assign(this, { raw: samples, places, texts });
		this.slot = samples.slot; // ns that samples share a time; 0: each has its own
		this.like = sums;
		this.limits = [parent.length, threads.length, places.length];
	}

	/* Read the columns, once. */
	async load() {
		this.loading ??= this.read();
		return this.loading;
	}

	async read() {
		const { raw: { count, size, keys }, places } = this;
		const bytes = await inflate(this.texts, size), numbers = new SampleNumbers(bytes);
		const of = (name, type) => column(keys[name], new type(keys.count));

		this.keys = { node: of("nodes", Int32Array), thread: of("threads", Int32Array),
			event: of("events", Int32Array), wait: of("waits", Uint8Array),
			collecting: of("collecting", Uint8Array) };
		this.times = numbers.column(new Float64Array(count));
		this.number = numbers.column(new Uint32Array(count));
		this.counts = numbers.column(new Float64Array(count));
		this.weights = numbers.column(new Float64Array(count));
		this.check(numbers);
		for (let i = 0, time = 0; i < count; i++) {
			const { period } = places[this.keys.event[this.number[i]]];

			time += this.times[i];
			this.times[i] = time;
			this.weights[i] = unzigzag(this.weights[i]) + this.counts[i] * period;
		}
		this.keys.event = this.keys.event.map((event) => places[event].place);
		this.texts = null;
		return this;
	}

	check(numbers) {
		const { limits, keys: { node, thread, event } } = this;

		if (numbers.at !== numbers.bytes.length ||
			!this.number.every((one) => one < node.length) ||
			![node, thread, event].every((list, i) =>
				list.every((one) => one >= 0 && one < limits[i])))
			throw new RangeError("no such node, thread or event");
	}

	/* Return the range that samples of a part of the time have: that of whole slots. */
	whole({ from, to }) {
		const { slot } = this;

		return slot ? { from: Math.floor(from / slot) * slot,
			to: Math.ceil(to / slot) * slot } : { from, to };
	}

	/* Return the sums of a part of the time; as in skein report, its end belongs to it. */
	sums(range) {
		const { slot, times, keys, like } = this, { from, to } = this.whole(range);
		const begin = slot ? from / slot : from, end = slot ? to / slot - 1 : to;
		const count = new Float64Array(keys.node.length), weight = count.slice();

		for (let i = this.first(begin); i < times.length && times[i] <= end; i++) {
			count[this.number[i]] += this.counts[i];
			weight[this.number[i]] += this.weights[i];
		}
		const kept = Uint32Array.from(count.keys()).filter((i) => count[i]);
		const pick = (list) => list.constructor.from(kept, (i) => list[i]);

		return { node: pick(keys.node), thread: pick(keys.thread), event: pick(keys.event),
			count: pick(count), weight: pick(weight),
			wait: like.wait && pick(keys.wait),
			collecting: like.collecting && pick(keys.collecting) };
	}

	/* Return the number of the first sample at or after a time. */
	first(time) {
		let low = 0, high = this.times.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (this.times[middle] < time)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}
}

/* Reads columns of numbers that follow each other. */
class SampleNumbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	column(into) {
		const { bytes } = this;
		let { at } = this;

		for (let i = 0; i < into.length; i++) {
			let value = 0, factor = 1, byte;

			do {
				byte = bytes[at++];
				value += (byte & 127) * factor;
				factor *= 128;
			} while (byte > 127);
			into[i] = value;
		}
		this.at = at;
		return into;
	}
}
