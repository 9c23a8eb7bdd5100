// SPDX-License-Identifier: Apache-2.0
/*
 * Answer what the timeline asks from what the page itself holds, as class Feed asks a server. What
 * the page does not hold is named, with the command that has it.
 */

const AT_ONCE = 10; // ms of computing before the browser may do something else
const UNTOUCHED = 1 << 26; // bytes
const PIECE = 1 << 18; // characters of base64 that are decoded at once, a multiple of 4

/* Return the bytes of base64, in memory that has room for them. */
function bytesOf(text, room) {
	const characters = atob(text);

	for (let i = 0; i < characters.length; i++)
		room[i] = characters.charCodeAt(i);
	return room.subarray(0, characters.length);
}

/*
 * Make the browser collect what unpacking left behind, some ten MB. It does so when arrays grow,
 * also for one whose memory is never touched and so never taken.
 */
const collectGarbage = () => new Uint8Array(UNTOUCHED).length;

/* Take the compressed columns out of the page, a piece at a time, and unpack them. */
async function inflate(texts, size) {
	if (!globalThis.DecompressionStream)
		throw new FeedError("refused", "This browser is too old to unpack the timeline.");
	const { readable, writable } = new DecompressionStream("gzip");
	const bytes = new Uint8Array(size), reader = readable.getReader();
	const written = writePieces(texts, writable.getWriter());
	let at = 0;

	for (let { done, value } = await reader.read(); !done;
		{ done, value } = await reader.read()) {
		bytes.set(value, at);
		at += value.length;
	}
	await written;
	collectGarbage();
	if (at !== size)
		throw new RangeError("the columns have another length");
	return bytes;
}

/* Write the bytes of texts of the page, and let go of each: together they are its largest item. */
async function writePieces(texts, writer) {
	const bytes = new Uint8Array(PIECE / 4 * 3);

	try {
		for (let text; (text = texts.shift());)
			for (let at = 0; at < text.length; at += PIECE)
				await writer.write(bytesOf(text.substringData(at, PIECE), bytes));
		await writer.close();
	} catch (error) {
		await writer.abort(error).catch(() => null);
	}
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
	/*
	 * embedded: the timeline of the page, see user/cmd/html_timeline.c; take: returns the nodes
	 * that have columns.
	 */
	constructor(embedded, take) {
		const texts = take("columns");

		this.take = take;
		this.finest = 0; // length of the shortest cell, ns; 0: states are exact
		this.texts = texts;
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
		const { states: head } = embedded, bytes = await inflate(this.texts, head.size);

		this.states = new States(head, bytes, cpus.length);
		this.counters = new StaticCounters(head, bytes);
		this.before = head.before;
		this.maker = new StrokeMaker(this.states, fills);
		this.looks = { fills, solid: looks.map(([, shape]) => shape === "solid") };
		this.lives = this.livesOf(head);
		embedded.trace.warning = this.limits(embedded);
		this.rows = new Map(rows.map((row) => [row.lane, row]));
		this.cpus = cpus.map(({ lane }) => lane);
		this.threadsOf = new Map(rows.filter(({ kind }) => kind === "process")
			.map(({ lane }) => [lane, []]));
		for (const { kind, lane, process } of rows)
			if (kind === "thread")
				this.threadsOf.get(`p${process}`)?.push(lane);
	}

	/* Say what the page does not hold; "" if it holds all. */
	limits({ left_out: missing }) {
		const { cells: [finest] } = this.states;

		if (!finest)
			return "";
		this.finest = 2 ** finest.shift; // ns
		const lanes = missing ? `${plural(missing, "lane")} that ran least ${
			missing === 1 ? "is" : "are"} left out; ` : "";

		return `Finest cell: ${duration(this.finest)}; closer than that a pixel shows ` +
			`the cell around it; ${lanes}${this.command} shows the rest.`;
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
			if (lane === WANTED) {
				strokes.set(lane, await this.wanted(range));
				continue;
			}
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

	/* Return the mean number of threads that wanted a CPU, as user/lanes/wanted.c does. */
	async wanted(range) {
		const { from, to, columns } = range;
		const sums = new WantedSums(from, to, columns);

		if (!this.finest)
			for (const threads of this.threadsOf.values())
				for (const lane of threads) {
					await this.rest(range);
					sums.add(this.states, lane);
				}
		return sums.columns(Boolean(this.finest)); // rounded cells have no such sums
	}

	/* The strip of all CPUs and their lanes have the same strokes. */
	partStrokes(name, range) {
		const { from, to, columns, cpus } = range, kind = this.rows.get(name)?.kind;
		const make = kind === "runtime" ? "acts" : "strokes";
		const strokes = cpus.get(name) ?? this.maker[make](name, from, to, columns);

		if (kind === "cpu")
			cpus.set(name, strokes);
		return strokes;
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

	/* Return the page's data, or of them what belongs to a part of the time or a thread. */
	async profile(query) {
		const all = this.loaded, row = this.rowOf(query);
		const part = query.from === undefined ? null
			: { from: Number(query.from), to: Number(query.to) };
		const samples = part && await this.samplesOf(all.now);
		const instead = this.insteadOf(part, row, samples);

		if (!row && !samples)
			return { ...all, ...instead };
		const side = samples ? this.partOf(all.now, samples, part) : all.now;
		const now = sideOfThreads(side, row && this.chosenThreads(row));

		return { ...all, now, sides: [now], ...instead,
			reason: "There are no samples of what is selected." };
	}

	/* Return the profile of a part of the time, whose times count from that of the page. */
	partOf(side, samples, part) {
		const whole = samples.whole(part);

		return { ...side, sums: samples.sums(part), from: side.from + whole.from,
			to: side.from + Math.min(whole.to, this.embedded.trace.length) };
	}

	rowOf({ process, lane }) {
		return this.rows.get(lane ?? `p${process}`);
	}

	/* Return which threads of the profile are those of a row. */
	chosenThreads(row) {
		const pid = this.rows.get(`p${row.process}`)?.id;

		return this.loaded.now.threads.map(({ tid, process: of }) =>
			row.kind === "process" ? of?.pid === row.id
				: tid === row.id && (pid === undefined || of?.pid === pid));
	}

	/* Return the samples of the page with their times; null if it has none. */
	async samplesOf(side) {
		if (!side.samples)
			return null;
		this.samples ??= new Samples(side, this.take("samples"));
		return this.samples.load();
	}

	/* Say what the page shows instead of what is selected. */
	insteadOf(part, row, samples) {
		const lacks = [part && !samples && "that of a part",
			this.finest && (part || row) && "the times by state"].filter(Boolean);
		const texts = [];

		if (part && !samples)
			texts.push("the flame graph is of all of the time");
		if (samples?.slot) {
			const whole = samples.whole(part);

			texts.push(`the flame graph is of slots of ${duration(samples.slot)}, ` +
				`from ${secondsText(whole.from)} to ${secondsText(whole.to)}`);
		}
		if (lacks.length)
			texts.push(`${lacks.join(" and ")} need${lacks.length > 1 || this.finest
				? "" : "s"} ${this.command}`);
		const text = texts.join("; ");

		return text ? { instead: `${text[0].toUpperCase()}${text.slice(1)}. Selected: ` }
			: {};
	}

	/* The page does not search its samples by time. */
	async marks() {
		throw new FeedError("refused",
			`${this.command} marks where a function ran; this page does not.`);
	}

	/* Return how long threads were in each state, as skein report says it, but by fill. */
	report({ from = 0, to = this.embedded.trace.length, process, lane }) {
		if (this.finest)
			return Promise.resolve(null); // sums of rounded cells would be wrong
		const { states, before } = this, { fills } = this.embedded.trace;
		const lanes = lane ? [lane] : process ? this.threadsOf.get(`p${process}`) ?? []
			: [...this.threadsOf.values()].flat();
		const begin = before + Number(from), end = before + Number(to), blocked = {};
		let running = 0;

		for (const name of lanes) {
			const run = states.find(name, begin);

			for (let more = run !== null; more && run.begin < end; more = run.next()) {
				const time = Math.min(end, run.end) - Math.max(begin, run.begin);

				if (run.key === NOTHING)
					continue;
				const [word] = fills[states.fillOf[run.key]];

				if (states.stateOf[run.key] === RUNS)
					running += time;
				else if (word)
					blocked[word] = (blocked[word] ?? 0) + time;
			}
		}
		return Promise.resolve({ sched: { processes: [{ running, blocked }] } });
	}

	/* Return what a lane did at a time; null if nothing is known. */
	at(name, time) {
		const { states, before, embedded: { trace: { length } } } = this;

		if (name === WANTED)
			return null;
		if (isCounter(name))
			return this.counters.at(name, time + before,
				{ first: before, end: before + length }, this.rows.get(name) ?? {});
		if (this.finest && this.rows.get(name)?.kind !== "runtime")
			return this.cellAt(name, time);
		const run = states.find(name, time + before);

		if (!run || run.key === NOTHING)
			return null;
		const { key, thread, cpu } = run, from = run.begin - before, to = run.end - before;
		const facts = [["state", states.wordsOf[key]],
			["from", secondsText(from)], ["to", secondsText(to)],
			["length", duration(to - from)]];
		const next = run.next() ? run.key : NOTHING, links = [];

		if (cpu)
			this.tellThread(thread, time, facts, links);
		else
			this.tellOfThread(name, [key, next], time, facts);
		return { title: this.nameOf(name), facts, links, from: Math.max(0, from), to };
	}

	/* Return what the shortest cell at a time says of a lane. */
	cellAt(name, time) {
		const { states, before, finest } = this, { cells: [set] } = states;
		const begin = Math.floor((time + before) / finest) * finest, { walk } = states;

		if (!walk.seek(set, set.lanes.get(name), begin) || !states.stateOf[walk.key])
			return null;
		const { key, share, thread } = walk, from = begin - before, links = [];
		const facts = [["mostly", states.wordsOf[key]],
			["running", percent(share, CELL_FULL)],
			["from", secondsText(from)], ["to", secondsText(from + finest)],
			["length", `${duration(finest)}, the finest cell`]];

		this.tellThread(thread, time, facts, links);
		facts.push(["exact", `shown by ${this.command}`]);
		return { title: this.nameOf(name), facts, links, from: Math.max(0, from),
			to: from + finest };
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
	tellOfThread(name, [key, next], time, facts) {
		const { states, before } = this;

		if (states.stateOf[key] === RUNS) {
			const cpu = this.cpus.find((one) => {
				const run = states.find(one, time + before);

				return run && states.laneOfThread[run.thread] === name;
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
 * Return a profile with the sums of some threads only; chosen: null for all. What the page says
 * about completeness and losses is of the whole recording, so it is left out.
 */
function sideOfThreads(side, chosen) {
	const { sums } = side, kept = [];

	for (let i = 0; i < sums.thread.length; i++)
		if (!chosen || chosen[sums.thread[i]])
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
