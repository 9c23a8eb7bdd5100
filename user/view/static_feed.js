// SPDX-License-Identifier: Apache-2.0
/*
 * Answer what the timeline asks from what the page itself holds, as class Feed asks a server. What
 * the page does not hold is named, with the command that has it.
 */

const AT_ONCE = 10; // ms of computing before the browser may do something else

/* Return the bytes of base64. */
function bytesOf(text) {
	const characters = atob(text), bytes = new Uint8Array(characters.length);

	for (let i = 0; i < bytes.length; i++)
		bytes[i] = characters.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	if (!globalThis.DecompressionStream)
		throw new FeedError("refused", "This browser is too old to unpack the timeline.");
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Let the browser draw; a message comes sooner than a timer. */
const pause = () => new Promise((done) => {
	const { port1, port2 } = new MessageChannel();

	port1.onmessage = () => {
		port1.close();
		done();
	};
	port2.postMessage(null);
});

const secondsText = (ns) => `${(ns / 1e9).toFixed(6)} s`;

class StaticFeed {
	/* embedded: the timeline of the page, see user/cmd/html_timeline.c. */
	constructor(embedded) {
		this.embedded = embedded;
		this.loaded = null; // the data of the page's flame graph
		this.command = `skein view ${embedded.file || "FILE"}`;
	}

	/* There is no server, and no token. */
	takeToken() {
		return false;
	}

	async trace() {
		const { embedded } = this;

		if (this.states)
			return embedded.trace;
		try {
			await this.unpack(embedded);
		} catch (error) {
			throw error instanceof FeedError ? error
				: new FeedError("refused", "The timeline in this page is damaged.");
		}
		return embedded.trace;
	}

	async unpack(embedded) {
		embedded.trace.choices = []; // the page has a lane for each thread only
		const { rows, fill_of: fills, fills: looks } = embedded.trace;
		const cpus = rows.filter(({ kind }) => kind === "cpu");
		const bytes = await inflate(bytesOf(embedded.columns));

		this.states = new States(embedded, bytes, cpus.length);
		this.counters = new StaticCounters(embedded, bytes);
		embedded.columns = ""; // the largest text of the page
		this.before = embedded.before;
		this.maker = new StrokeMaker(this.states, fills);
		this.looks = { fills, solid: looks.map(([, shape]) => shape === "solid") };
		this.lives = this.livesOf(embedded);
		this.rows = new Map(rows.map((row) => [row.lane, row]));
		this.cpus = cpus.map(({ lane }) => lane);
		this.threadsOf = new Map(rows.filter(({ kind }) => kind === "process")
			.map(({ lane }) => [lane, []]));
		for (const { kind, lane, process } of rows)
			if (kind === "thread")
				this.threadsOf.get(`p${process}`)?.push(lane);
	}

	/* Return when each lane of a thread lived, as [start, end] from the base. */
	livesOf({ lives }) {
		const of = new Map();

		for (let i = 0; i + 2 < lives.length; i += 3) {
			const [start, end] = of.get(lives[i]) ?? [Infinity, 0];

			of.set(lives[i], [Math.min(start, lives[i + 1]),
				Math.max(end, lives[i + 2] || Infinity)]);
		}
		return of;
	}

	/* Return the lanes that are joined to one: of a process those of threads that lived. */
	partsOf(lane, { from, to }) {
		if (lane === STRIP)
			return this.cpus;
		return this.threadsOf.get(lane)?.filter((thread) => {
			const [start, end] = this.lives.get(thread) ?? [0, Infinity];

			return start < to && end > from;
		}) ?? [lane];
	}

	/* Return the strokes of each lane; given up when the signal says so. */
	async window({ from, to, columns, lanes }, signal) {
		const strokes = new Map();
		const range = { from: from + this.before, to: to + this.before, columns, signal,
			begun: performance.now(), cpus: new Map() };

		for (const lane of lanes) {
			await this.rest(range);
			if (isCounter(lane)) {
				strokes.set(lane, this.counters.columns(lane, range.from, range.to,
					columns));
				continue;
			}
			const parts = this.partsOf(lane, range);
			const joiner = new StrokeJoiner(columns, this.looks);

			for (const part of parts) {
				await this.rest(range);
				joiner.add(this.partStrokes(part, range));
			}
			strokes.set(lane, joiner.strokes(lane === STRIP));
		}
		return { columns, partial: false, strokes };
	}

	/* The strip of all CPUs and their lanes have the same strokes. */
	partStrokes(name, range) {
		const lane = this.states.lanes.get(name), known = range.cpus.get(name);
		const strokes = known ?? this.newStrokes(name, lane, range);

		if (lane?.cpu)
			range.cpus.set(name, strokes);
		return strokes;
	}

	newStrokes(name, lane, { from, to, columns }) {
		return lane && this.rows.get(name)?.kind === "runtime"
			? this.maker.acts(lane, from, to, columns)
			: this.maker.strokes(lane, from, to, columns);
	}

	/* Pause after some time, and end if nobody waits for the answer any more. */
	async rest(range) {
		if (performance.now() - range.begun < AT_ONCE)
			return;
		await pause();
		range.begun = performance.now();
		if (range.signal?.aborted)
			throw new FeedError("refused", "The answer is not wanted any more.");
	}

	/* Return the page's data, or of them what belongs to a process or thread. */
	profile({ from, process, lane }) {
		const all = this.loaded, row = this.rows.get(lane ?? `p${process}`);
		const instead = from === undefined ? {} : {
			instead: `The flame graph is of all of the time (${this.command} ` +
				"has that of a part): " };

		if (!row)
			return { ...all, ...instead };
		const pid = this.rows.get(`p${row.process}`)?.id;
		const chosen = all.now.threads.map(({ tid, process: of }) =>
			row.kind === "process" ? of?.pid === row.id
				: tid === row.id && (pid === undefined || of?.pid === pid));
		const now = sideOfThreads(all.now, chosen);

		return { ...all, now, sides: [now], ...instead,
			reason: "It has no samples in this recording." };
	}

	/* The samples of the page have no times. */
	async marks() {
		throw new FeedError("refused",
			`The samples in this page have no times: ${this.command} marks them.`);
	}

	/* Return how long threads were in each state, as skein report says it, but by fill. */
	report({ from = 0, to = this.embedded.trace.length, process, lane }) {
		const { states, before } = this, { fills } = this.embedded.trace;
		const lanes = lane ? [lane] : process ? this.threadsOf.get(`p${process}`) ?? []
			: [...this.threadsOf.values()].flat();
		const begin = before + Number(from), end = before + Number(to), blocked = {};
		let running = 0;

		for (const of of lanes.map((name) => states.lanes.get(name)).filter(Boolean))
			for (let at = states.find(of, begin); at < of.end; at++) {
				const key = states.keys[at], start = states.beginOf(of, at);
				const time = Math.min(end, states.ends[at]) -
					Math.max(begin, start);

				if (time <= 0)
					break;
				if (key === NOTHING)
					continue;
				const [word] = fills[states.fillOf[key]];

				if (states.stateOf[key] === RUNS)
					running += time;
				else if (word)
					blocked[word] = (blocked[word] ?? 0) + time;
			}
		return Promise.resolve({ sched: { processes: [{ running, blocked }] } });
	}

	/* Return what a lane did at a time; null if nothing is known. */
	at(name, time) {
		const { states, before, embedded: { trace: { length } } } = this;
		const lane = states.lanes.get(name);

		if (isCounter(name))
			return this.counters.at(name, time + before,
				{ first: before, end: before + length }, this.rows.get(name) ?? {});
		const at = lane ? states.find(lane, time + before) : 0;

		if (!lane || at >= lane.end || states.keys[at] === NOTHING)
			return null;
		const from = states.beginOf(lane, at) - before, to = states.ends[at] - before;
		const facts = [["state", states.wordsOf[states.keys[at]]],
			["from", secondsText(from)], ["to", secondsText(to)],
			["length", duration(to - from)]];
		const links = [];

		if (lane.cpu)
			this.tellThread(states.threads[at], time, facts, links);
		else
			this.tellOfThread(name, lane, at, time, facts);
		return { title: this.nameOf(name), facts, links, from: Math.max(0, from), to };
	}

	/* Say which thread ran on a CPU. */
	tellThread(number, time, facts, links) {
		if (!number)
			return;
		const lane = this.states.laneOfThread[number];

		facts.push(["thread",
			this.nameOf(lane) || "an interrupt, or a thread without a name"]);
		if (this.rows.has(lane))
			links.push({ text: this.nameOf(lane), lane, time });
	}

	/* Say on which CPU a thread ran, or how a wait ended. */
	tellOfThread(name, lane, at, time, facts) {
		const { states, before } = this;
		const next = at + 1 < lane.end ? states.keys[at + 1] : NOTHING;

		if (states.stateOf[states.keys[at]] === RUNS) {
			const cpu = this.cpus.find((one) => {
				const of = states.lanes.get(one);
				const found = states.find(of, time + before);

				return found < of.end &&
					states.laneOfThread[states.threads[found]] === name;
			});

			if (cpu !== undefined)
				facts.push(["on", this.rows.get(cpu).name]);
		}
		if (next !== NOTHING)
			facts.push(["then", states.wordsOf[next]]);
		if (this.rows.get(name)?.kind === "thread")
			facts.push(["stack, wakers", `shown by ${this.command}`]);
	}

	/* Return a thread's name with its number and program; "" for a lane without a row. */
	nameOf(lane) {
		const row = this.rows.get(lane), program = this.rows.get(`p${row?.process}`)?.name;

		if (row?.kind !== "thread")
			return "";
		return `${row.name} ${row.id}${program ? ` (${program})` : ""}`;
	}
}

/*
 * Return a profile with the sums of some threads only. What the page says about completeness and
 * losses is of the whole recording, so it is left out.
 */
function sideOfThreads(side, chosen) {
	const { sums } = side, kept = [];

	for (let i = 0; i < sums.thread.length; i++)
		if (chosen[sums.thread[i]])
			kept.push(i);
	const columns = Object.entries(sums).map(([name, column]) =>
		[name, column && column.constructor.from(kept, (i) => column[i])]);
	const events = side.events.map((event) => ({ ...event, due: 0, complete: 0, broken: [],
		self: 0, named: 0, nameless: [], advice: undefined, losses: [], others: [],
		account: { sampled: 0, lost: 0 } }));

	return { ...side, events, sums: Object.fromEntries(columns) };
}

/* Say why a page has no timeline though its recording has one. */
function showNoTimeline(embedded) {
	if (!embedded?.reason)
		return;
	byId("feed-notice").hidden = false;
	byId("retry").hidden = true;
	byId("notice-text").textContent = `There is no timeline: ${visible(embedded.reason)}. ` +
		`It is shown by: skein view ${visible(embedded.file || "FILE")}`;
}
