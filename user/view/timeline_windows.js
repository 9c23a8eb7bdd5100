// SPDX-License-Identifier: Apache-2.0
/*
 * Ask for what the timeline shows and keep what came. What is shown changes with every frame of the
 * screen while somebody zooms, so only the newest wish is kept while two requests are on their way.
 */

const IN_FLIGHT = 2;
const TOO_FAR = 4; // ratio of lengths from which the answer to another zoom is of no use
const LEAST_STRIPS = 4; // layers of one range that are kept, of rows that were scrolled to
const STRIP_PIXELS = 8e6; // in total, up to which more of them are kept
const OLD_LAYERS = 1; // of other ranges, which are shown until the exact ones come

const rangeKey = ({ from, to, columns }) => `${from} ${to} ${columns}`;

/* Return whether the answer to a wish can still be of use where another one is newer. */
function isUseful(old, wish) {
	const ratio = (old.to - old.from) / (wish.to - wish.from);

	return old.from < wish.to && old.to > wish.from && ratio < TOO_FAR && ratio > 1 / TOO_FAR;
}

class Windows {
	/* arrived(layer) and failed(error) are called for each answer. */
	constructor(feed, arrived, failed) {
		this.feed = feed;
		this.arrived = arrived;
		this.failed = failed;
		this.flights = new Set();
		this.layers = []; // the newest first
		this.wish = null;
		this.sent = this.newest = 0;
		this.refused = ""; // range that the server refused: not to be asked for again
	}

	/* Return the layer of the range that is shown, the newest. */
	get current() {
		return this.layers[0];
	}

	/* Return whether a lane of a range is there or on its way. */
	expects(range, lane) {
		const key = rangeKey(range);

		return key === this.refused ||
			this.layers.some((layer) => layer.key === key && layer.has(lane)) ||
			[...this.flights].some(({ wish }) =>
				rangeKey(wish) === key && wish.lanes.includes(lane));
	}

	want(wish) {
		this.wish = wish;
		for (const flight of this.flights)
			if (!isUseful(flight.wish, wish)) {
				flight.control.abort();
				this.flights.delete(flight);
			}
		this.send();
	}

	send() {
		if (!this.wish || this.flights.size >= IN_FLIGHT)
			return;
		const flight = { wish: this.wish, number: ++this.sent,
			control: new AbortController() };

		this.wish = null;
		this.flights.add(flight);
		this.run(flight);
	}

	async run(flight) {
		const { wish, control: { signal } } = flight;

		try {
			const answer = await this.feed.window(wish, signal);

			if (!signal.aborted)
				this.take(flight, answer);
		} catch (error) {
			this.flights.delete(flight);
			if (!signal.aborted) {
				this.refused = error.kind === "refused" ? rangeKey(wish) : "";
				this.failed(error);
			}
		}
		this.flights.delete(flight);
		this.send();
	}

	/* Keep an answer, unless one that was asked for later has come before. */
	take({ wish, number }, answer) {
		if (number < this.newest && rangeKey(wish) !== this.current?.key)
			return;
		const layer = Object.assign(new LaneLayer(wish, answer),
			{ key: rangeKey(wish), partial: answer.partial });

		this.newest = Math.max(number, this.newest);
		this.layers.unshift(layer);
		this.prune();
		this.arrived(layer);
	}

	/* Put the layers of a range before the others; what was asked for before comes too late. */
	promote(key) {
		this.newest = this.sent;
		this.layers = [...this.layers.filter((layer) => layer.key === key),
			...this.layers.filter((layer) => layer.key !== key)];
	}

	/* Drop old layers; the longest one stays, which has something for every place. */
	prune() {
		const { key } = this.current;
		const same = this.strips(this.layers.filter((layer) => layer.key === key));
		const other = this.layers.filter((layer) => layer.key !== key);
		const longest = other.reduce((best, layer) =>
			best && best.to - best.from > layer.to - layer.from ? best : layer, null);
		const kept = new Set([...same, ...other.slice(0, OLD_LAYERS), longest]);

		for (const layer of this.layers)
			if (!kept.has(layer))
				layer.drop();
		this.layers = this.layers.filter((layer) => kept.has(layer));
	}

	/* Return the newest layers of a range, as many as have room. */
	strips(layers) {
		let pixels = 0;

		return layers.filter((layer, i) => {
			pixels += layer.canvas ? layer.canvas.width * layer.canvas.height : 0;
			return i < LEAST_STRIPS || pixels < STRIP_PIXELS;
		});
	}

	/* Forget all that came, and what is on its way. */
	clear() {
		for (const { control } of this.flights)
			control.abort();
		this.flights.clear();
		for (const layer of this.layers)
			layer.drop();
		this.layers = [];
		this.wish = null;
	}
}
