// SPDX-License-Identifier: Apache-2.0
/*
 * Two traces below each other on one axis. To the rest of the page they are one recording, whose
 * times count from where the earlier one begins on the axis. Lanes and processes of the second
 * trace have a letter before their names, and the strip of a trace's CPUs is its heading.
 */

const SECOND = "b";
const OUT_OF_RECORDING = "Nothing was recorded there.";

/* Asks the server for one of two traces. */
class TraceFeed extends Feed {
	/* owner: the feed that has the token; number: from 1 on. */
	constructor(owner, number) {
		super();
		this.owner = owner;
		this.number = number;
		this.letter = number > 1 ? SECOND : "";
		this.shift = 0; // ns from the begin of the axis to that of the recording
		this.about = null; // what the server says of the trace
		this.fills = Uint8Array.from({ length: 256 }, (_, fill) => fill);
	}

	ask(path, parts, form, signal) {
		const trace = this.number > 1 ? this.number : undefined;

		return this.owner.ask(path, { ...parts, trace }, form, signal);
	}

	get length() {
		return Math.max(1, Number(this.about.length) || 1);
	}

	has(lane) {
		return this.number > 1 === lane.startsWith(SECOND);
	}

	own(lane) {
		return lane.slice(this.letter.length);
	}

	/* Return a row as the page names its lanes. */
	row(raw) {
		const { lane, process = null, parts } = raw, named = (of) => this.letter + of;

		return { ...raw, lane: named(lane), ...parts && { parts: parts.map(named) },
			process: process === null ? null
				: this.letter ? named(`p${process}`) : process };
	}

	heading(name) {
		const { rows, warning } = this.about;
		const begins = this.shift ? `, begins at ${duration(this.shift)}` : "";

		return { lane: this.letter + STRIP, kind: "trace", name, id: null, process: null,
			note: rows.length ? duration(this.length) : "no timeline",
			title: `${visible(String(this.about.file))}: ${duration(this.length)}` +
				`${begins}${rows.length ? "" : "; it has no scheduler records"}` +
				`${warning ? `; ${visible(String(warning))}` : ""}` };
	}

	/* Return a moment, a slice or a link of this trace with its place on the axis. */
	placed(of) {
		const moved = ["from", "to", "time"].filter((key) => of[key] !== undefined)
			.map((key) => [key, Number(of[key]) + this.shift]);

		return { ...of, ...Object.fromEntries(moved),
			...of.lane !== undefined && { lane: this.letter + of.lane } };
	}

	/* Ask about a moment of a lane, by at() or chain(). */
	async moment(ask, lane, time, signal) {
		const own = time - this.shift;

		if (own < 0 || own >= this.length)
			throw new FeedError("refused", OUT_OF_RECORDING);
		const answer = await this[ask](this.own(lane), own, signal);

		if (!answer)
			return answer;
		const { links = [], facts = [] } = answer, placed = this.placed(answer);

		return { ...placed, links: links.map((link) => this.placed(link)),
			// times are those of the axis
			facts: facts.map(([name, value]) => [name, ["from", "to"].includes(name)
				? secondsText(placed[name]) : value]) };
	}

	/*
	 * Return the part of a window on the axis that is in the recording, in its own times, and
	 * the first of its columns.
	 */
	partOf({ from, to, columns }) {
		const { shift, length } = this, each = (to - from) / columns;
		const column = (time) =>
			Math.max(0, Math.min(columns, Math.round((time - from) / each)));
		const first = Math.min(columns - 1, column(shift));
		const end = Math.max(first + 1, column(shift + length));

		return { first, from: Math.max(0, from - shift), to: Math.min(length, to - shift),
			columns: end - first };
	}

	/* Return where functions ran in a window on the axis; null if that is not recorded. */
	async found({ from, to, columns, ...of }, signal) {
		const { first, ...own } = this.partOf({ from, to, columns });

		if (own.to <= own.from)
			return null;
		const answer = await this.marks({ ...of, ...own }, signal);

		return { ...answer, lanes: answer.lanes.map(([lane, at, levels]) =>
			[this.letter + lane, Number(at) + first, levels]) };
	}

	/*
	 * Return the strokes of lanes of a window on the axis. The server is asked for the columns
	 * that are in the recording: all of it is in them, so that none of it is lost between two
	 * columns.
	 */
	async strokes({ from, to, columns, lanes }, signal) {
		const { first, ...part } = this.partOf({ from, to, columns });
		const own = { ...part, lanes: lanes.map((lane) => this.own(lane)) };

		if (!lanes.length || own.to <= own.from)
			return { partial: false, strokes: own.lanes.map((lane) => isCounter(lane)
				? new CounterColumns(columns)
				: new Uint8Array(columns * STROKE_SIZE)) };
		const answer = await this.window(own, signal);

		return { partial: answer.partial, strokes: own.lanes.map((lane) =>
			this.spread(answer.strokes.get(lane), first, columns)) };
	}

	/* Return strokes at their columns, in the fills of both traces, or a counter's values. */
	spread(strokes, first, columns) {
		if (strokes instanceof CounterColumns)
			return strokes.spread(first, columns);
		const all = new Uint8Array(columns * STROKE_SIZE), { fills } = this;

		all.set(strokes.subarray(0, all.length - first * STROKE_SIZE), first * STROKE_SIZE);
		for (let i = 0; i < all.length; i += STROKE_SIZE) {
			all[i + 1] = fills[all[i + 1]];
			all[i + 2] = fills[all[i + 2]];
		}
		return all;
	}

	/* Return a selection in times of the trace; null if nothing of it is in the recording. */
	selection({ from, to, ...of }) {
		if (from === undefined)
			return of;
		const first = Math.max(0, Number(from) - this.shift);
		const end = Math.min(this.length, Number(to) - this.shift);

		return end > first ? { ...of, from: first, to: end } : null;
	}
}

/* Return what part of the samples is in the answers of several traces; undefined: all are. */
function partOfAll(raws) {
	const parts = raws.map((raw) => raw?.part).filter(Boolean);

	return parts.length ? { share: Math.min(...parts.map(({ share }) => share)),
		samples: parts.reduce((sum, { samples }) => sum + samples, 0),
		ms: parts.reduce((sum, { ms }) => sum + ms, 0) } : undefined;
}

/* Return the files' names, without their folders if these names differ. */
function fileNames(files) {
	const short = files.map((file) => file.slice(file.lastIndexOf("/") + 1));

	return (short[0] === short[1] ? files : short).map(visible);
}

/*
 * Give each program one fill in both traces: by turns the next of each, as long as there are fills.
 * Return the programs with their fills, as the page shows them.
 */
function shareFills(feeds) {
	const { program = 0, others = program } = feeds[0].about.fill_of ?? {};
	const shared = new Map(), lists = feeds.map(({ about }) => about.programs);

	for (let i = 0; i < Math.max(...lists.map((list) => list.length)); i++)
		for (const list of lists)
			if (list[i] && !shared.has(list[i][0]) && program + shared.size < others)
				shared.set(list[i][0], program + shared.size);
	feeds.forEach(({ fills }, which) => {
		for (const [name, fill] of lists[which])
			fills[fill] = shared.get(name) ?? others;
	});
	return [...shared];
}

/* What class Feed asks, of one trace or of two, as the server has them. */
class PairFeed extends Feed {
	constructor() {
		super();
		this.feeds = [new TraceFeed(this, 1), new TraceFeed(this, 2)];
		this.pair = null; // of two traces: their names, and how they are aligned
	}

	async trace(by) {
		const [first, second] = this.feeds;

		const about = await first.trace(by);

		if (about.traces !== 2)
			return about;
		[first.about, second.about] = [about, await second.trace(by)];
		const programs = shareFills(this.feeds);

		this.pair = { ...this.pair, names: fileNames([first.about.file, second.about.file]
			.map(String)) };
		this.align(this.pair.wanted ?? "");
		return this.both(programs);
	}

	/* Return what the page shows of both traces. */
	both(programs) {
		const { feeds, pair: { names } } = this, [{ about }] = feeds;
		const some = feeds.some(({ about: { rows } }) => rows.length);
		const warnings = feeds.flatMap(({ about: { warning, unfinished } }, which) =>
			[warning, unfinished && UNFINISHED].filter(Boolean)
				.map((text) => `${names[which]}: ${text}`));

		return { ...about, programs, length: this.length, warning: warnings.join(" "),
			unfinished: false,
			rows: some ? feeds.flatMap((feed, which) => [feed.heading(names[which]),
				...feed.about.rows.map((row) => feed.row(row))]) : [] };
	}

	/* Return whether both were recorded at the same time, by their clocks. */
	get together() {
		const [first, second] = this.feeds, { after } = second.about;

		return typeof after === "number" && after < first.length &&
			after + second.length > 0;
	}

	/*
	 * Align both by "clock" or "start"; by the clock if that is possible and nothing else is
	 * wanted. Return whether that is a change.
	 */
	align(wanted) {
		const [first, second] = this.feeds, { after } = second.about;
		const by = this.together && wanted !== "start" ? "clock" : "start";
		const changed = by !== this.pair.by;

		Object.assign(this.pair, { wanted, by });
		first.shift = by === "clock" ? Math.max(0, -after) : 0;
		second.shift = by === "clock" ? Math.max(0, after) : 0;
		return changed;
	}

	/* The length of the axis. */
	get length() {
		return Math.max(...this.feeds.map(({ shift, length }) => shift + length));
	}

	feedOf(lane) {
		return this.feeds.find((feed) => feed.has(String(lane)));
	}

	async window(wish, signal) {
		if (!this.pair)
			return super.window(wish, signal);
		const answers = await Promise.all(this.feeds.map(async (feed) => {
			const lanes = wish.lanes.filter((lane) => feed.has(lane));
			const { partial, strokes } = await feed.strokes({ ...wish, lanes }, signal);

			return { partial, strokes: lanes.map((lane, i) => [lane, strokes[i]]) };
		}));

		return { columns: wish.columns, partial: answers.some(({ partial }) => partial),
			strokes: new Map(answers.flatMap(({ strokes }) => strokes)) };
	}

	at(lane, time, signal) {
		return this.pair ? this.feedOf(lane).moment("at", lane, time, signal)
			: super.at(lane, time, signal);
	}

	chain(lane, time, signal) {
		return this.pair ? this.feedOf(lane).moment("chain", lane, time, signal)
			: super.chain(lane, time, signal);
	}

	/*
	 * Return the traces that a selection is of, as pairs of a feed and the selection in its
	 * times: one trace, or without a lane or process both.
	 */
	chosen({ lane, process, ...time }) {
		const of = lane ?? process, feeds = of === undefined ? this.feeds
			: [this.feedOf(of)];

		return feeds.map((feed) => [feed, feed.selection({ ...time,
			lane: lane === undefined || feed.own(lane) === STRIP ? undefined
				: feed.own(lane),
			process: process && feed.own(process).replace(/^p/, "") })]);
	}

	/* Ask for the parts of a selection; null for a trace of which there is nothing in it. */
	askChosen(path, parts, signal) {
		return Promise.all(this.chosen(parts).map(([feed, own]) =>
			own && feed.ask(path, own, "json", signal)));
	}

	/* Of both traces it is a comparison: the first one is before, the second one after. */
	async profile(parts, signal) {
		if (!this.pair)
			return super.profile(parts, signal);
		const raws = await this.askChosen("profile", parts, signal);
		const found = raws.filter(Boolean).map(readRaw);
		const data = found.length < 2 || raws.length < 2
			? this.alone(raws, found[0]) : this.compared(found);

		return data && { ...data, part: partOfAll(raws) };
	}

	/* Return where functions ran in both, with lanes and columns of the axis. */
	async marks(parts, signal) {
		if (!this.pair)
			return super.marks(parts, signal);
		const found = await Promise.all(this.feeds.map((feed) =>
			feed.found(parts, signal)));
		const all = found.filter(Boolean);
		const sum = (key) => all.reduce((before, one) => before + Number(one[key] ?? 0), 0);

		return { columns: parts.columns, known: all.some(({ known }) => known),
			found: sum("found"), samples: sum("samples"), threads: sum("threads"),
			left_out: sum("left_out"),
			share: Math.min(1, ...all.map(({ share }) => Number(share))),
			lanes: all.flatMap(({ lanes }) => lanes) };
	}

	/* Return the data of one trace, and say if that is because the other one has none. */
	alone(raws, data) {
		const { names } = this.pair, missing = raws.findIndex((raw) => !raw);

		return !data || raws.length < 2 ? data ?? null : { ...data,
			instead: `${names[missing]} has no samples there. Without it: ` };
	}

	compared([before, after]) {
		const { names } = this.pair;
		const eventsOf = ({ sides: [{ events }] }) => events.map(({ name }) => name);
		const known = eventsOf(before);

		if (!eventsOf(after).some((name) => known.includes(name)))
			return { ...before, instead: "There is no event that both have. " +
				`${names[0]} alone: ` };
		return { ...readSources(after, [...after.sources, ...before.sources]),
			files: [names[1], names[0]] };
	}

	/* Return the reports of what is selected, one for each trace, by name if there are two. */
	async reports(parts, signal) {
		const reports = await this.askChosen("report", parts, signal);

		return reports.map((report, which) =>
			[reports.length > 1 ? this.pair.names[which] : "", report]);
	}
}

/* What the page shows of two traces: how they are aligned, and which one is selected. */
class PairBar {
	constructor(timeline) {
		this.timeline = timeline;
		this.select = byId("align");
		this.select.addEventListener("change", () => this.choose(this.select.value));
	}

	get pair() {
		return this.timeline.feed.pair;
	}

	/* Show the state of the address; times of another alignment are other times. */
	show({ align }) {
		const { timeline, timeline: { feed, trace }, pair } = this;

		byId("align-label").hidden = !pair;
		timeline.host.classList.toggle("paired", Boolean(pair));
		if (!pair)
			return;
		const changed = feed.align(align);

		for (const option of this.select.options)
			option.disabled = option.value === "clock" && !feed.together;
		this.select.value = pair.by;
		this.select.title = feed.together ? ""
			: "They were not recorded at the same time, by their clocks.";
		if (!changed)
			return;
		trace.length = feed.length;
		timeline.windows.clear();
		timeline.slice.close();
		timeline.written = null; // so that the address's view is shown
	}

	/* Align by another word; what is shown of the first trace stays where it is. */
	choose(word) {
		const { timeline, timeline: { feed, page, view, range } } = this;
		const [{ shift }] = feed.feeds, shown = timeline.viewText() ? view : null;

		feed.align(word);
		const by = feed.feeds[0].shift - shift, whole = feed.length;
		const moved = (old) => {
			const from = old ? Math.max(0, old.from + by) : 0;
			const to = old ? Math.min(whole, old.to + by) : 0;

			return to > from ? writeRange({ from, to }) : "";
		};

		this.pair.by = ""; // so that show() sees the change
		clearTimeout(timeline.settling);
		timeline.settling = undefined;
		page.change({ align: word === "start" && feed.together ? word : "",
			view: moved(shown), range: moved(range) });
	}

	/* Return the heading of a trace, also where there are no rows; undefined if it is none. */
	heading(lane) {
		const which = [STRIP, SECOND + STRIP].indexOf(lane), { pair } = this;

		return pair && which >= 0
			? new LaneRow({ lane, kind: "trace", name: pair.names[which] }) : undefined;
	}

	/* Return the buttons that choose what the flame graph is of: both traces, or one. */
	buttons() {
		const { timeline, pair } = this;

		if (!pair)
			return [];
		const [first, second] = pair.names;
		const choices = [["Both", ""], [first, STRIP], [second, SECOND + STRIP]];

		return [element("span", { class: "segments", role: "group",
			"aria-label": "Which recording" }, ...choices.map(([text, lane]) =>
			element("button", { type: "button", class: "name", text, "data-lane": lane,
				"aria-pressed": String((timeline.lane?.lane ?? "") === lane),
				onclick: () => timeline.select(timeline.range, lane) })))];
	}
}
