// SPDX-License-Identifier: Apache-2.0
/*
 * Read the data written by user/export/html.c into typed arrays; the labels of two profiles get
 * common numbers.
 */

/* Kinds of frames with the numbers of base/record.h; a group is a process, service, ... */
const KIND = { none: 0, native: 1, kernel: 2, jit: 3, python: 4, java: 5, mark: 6, group: 7 };

/* What the weights of an event are, with the numbers of export/roots.h. */
const OF = { samples: 0, waits: 1, wakers: 2, wall: 3, hits: 4 };

const FORMS = 3; // forms of a name that are written for each label; see html_write_short_names()
const DRAWN = 400; // most characters of a name that are drawn

/* Decode consecutive varints: 7 bits per byte, low bits first. */
function column(text, into) {
	const bytes = atob(text);
	let at = 0;

	for (let i = 0; i < into.length; i++) {
		let value = 0, factor = 1, byte;

		do {
			byte = bytes.charCodeAt(at++);
			value += (byte & 127) * factor;
			factor *= 128;
		} while (byte > 127);
		into[i] = value;
	}
	return into;
}

const unzigzag = (value) => value % 2 ? -(value + 1) / 2 : value / 2;

/* Decode a column of differences. */
function deltas(text, into) {
	const steps = column(text, new Float64Array(into.length));
	let last = 0;

	for (let i = 0; i < into.length; i++) {
		last += unzigzag(steps[i]);
		into[i] = last;
	}
	return into;
}

/* All labels: functions with modules, and groups as they are created. */
class Labels {
	constructor() {
		this.name = [];
		this.module = [];
		this.kind = [];
		this.file = [];
		this.forms = []; // names as they are drawn, from the longest to the shortest
		this.line = [];
		this.ran = []; // by label: lines at which its frames stood, the most frequent first
		this.numbers = new Map();
	}

	number(name, module, kind, file = "", line = 0) {
		const key = `${name}\0${module}\0${kind}`;
		let number = this.numbers.get(key);

		if (number === undefined) {
			number = this.name.length;
			this.numbers.set(key, number);
			this.name.push(visible(name));
			this.module.push(module && visible(module));
			this.kind.push(kind);
			this.file.push(file && visible(file));
			this.forms.push([this.name[number].slice(0, DRAWN)]);
			this.line.push(line);
		}
		return number;
	}

	/* Return the module without its folders. */
	shortModule(label) {
		const module = this.module[label];

		return module.startsWith("[") ? module : module.slice(module.lastIndexOf("/") + 1);
	}

	/* Return the position of each label in the order of names. */
	ranks() {
		if (this.ranked?.length === this.name.length)
			return this.ranked;
		const order = Array.from(this.name, (_, i) => i);

		order.sort((a, b) => compare(this.name[a], this.name[b]) || a - b);
		this.ranked = new Int32Array(order.length);
		order.forEach((label, rank) => { this.ranked[label] = rank; });
		return this.ranked;
	}

	hash(label) {
		this.hashes ??= [];
		return this.hashes[label] ??=
			shortHash(`${this.name[label]}\0${this.shortModule(label)}`);
	}
}

/* What a name can do without where it does not fit: Java's package, Python's file. */
const OMISSIBLE = {
	[KIND.java]: /^([a-z_$][\w$]*\.)+(?=[\w$]+\.)/,
	[KIND.python]: / \([^()]*:\d+\)$/,
};

// brackets whose contents are left out, and what follows a list of parameters
const EMPTIED = /(?<!operator)(<…>|\(…?\)( const$)?)/g;

/*
 * Return the forms of a name, the longest first. Boxes are narrower than columns of a report: the
 * last form has no brackets either, and not what its language can omit.
 */
function formsOf(kind, forms) {
	const bare = forms.at(-1).replace(EMPTIED, "");
	const least = OMISSIBLE[kind] ? bare.replace(OMISSIBLE[kind], "") : bare;

	return [...new Set([...forms, least || forms.at(-1)])];
}

/*
 * Return the texts [name, module] of a label in comparisons. rebuilt: the modules of which there
 * are several builds, in which the address that names a function means nothing.
 */
function commonName({ raw: { commonNames }, strings }, i, rebuilt) {
	const [name, module, build] = commonNames.slice(3 * i, 3 * i + 3)
		.map((text) => strings[text]);

	return [build && rebuilt.has(module) ? `[${module}]` : name, module];
}

/* rebuilt: see commonName(); null: the labels have their own names. */
function readLabels(source, labels, rebuilt) {
	const { raw: { labels: list, shortNames }, strings } = source;
	const numbers = new Int32Array(list.length / 5);

	for (let i = 0; i < numbers.length; i++) {
		const [own, ownModule, kind, file, line] = list.slice(5 * i, 5 * i + 5);
		const [name, module] = rebuilt ? commonName(source, i, rebuilt)
			: [strings[own], strings[ownModule]];

		numbers[i] = labels.number(name, module, kind > KIND.mark ? 0 : kind,
			strings[file], line);
		const forms = shortNames.slice(FORMS * i, FORMS * (i + 1));

		labels.forms[numbers[i]] = formsOf(kind, forms.map((form) =>
			visible(strings[form]).slice(0, DRAWN)));
	}
	return numbers;
}

/* Read the lines of labels: four numbers each; see html_write_lines(). */
function readLines(raw, strings, numbers, labels) {
	for (let i = 0; i < raw.length; i += 4) {
		const [label, line, file, samples] = raw.slice(i, i + 4);
		const name = strings[file] && visible(strings[file]);

		(labels.ran[numbers[label]] ??= []).push({ line, file: name, count: samples });
	}
}

/* Read the nodes. Node 0 is the root; parents come before their children. */
function readNodes(raw, numbers) {
	const parent = new Int32Array(raw.count + 1), label = new Int32Array(raw.count + 1);
	const back = column(raw.parents, new Float64Array(raw.count));
	const own = column(raw.labels, new Float64Array(raw.count));

	parent[0] = label[0] = -1;
	for (let i = 1; i <= raw.count; i++) {
		parent[i] = i - back[i - 1];
		label[i] = numbers[own[i - 1]];
		if (!(parent[i] >= 0 && parent[i] < i && label[i] >= 0))
			throw new RangeError("no tree");
	}
	return { parent, label };
}

/*
 * Read the sums. events: for each event its period, and its number in the list by name; limits: the
 * numbers of nodes and threads.
 */
function readSums(raw, events, limits) {
	const sums = {
		node: deltas(raw.nodes, new Int32Array(raw.count)),
		thread: deltas(raw.threads, new Int32Array(raw.count)),
		event: column(raw.events, new Int32Array(raw.count)),
		count: column(raw.counts, new Float64Array(raw.count)),
		weight: column(raw.weights, new Float64Array(raw.count)),
		// by class; 0: no wait
		wait: raw.waits ? column(raw.waits, new Uint8Array(raw.count)) : null,
		// 1: in a collection of garbage
		collecting: raw.collecting ? column(raw.collecting, new Uint8Array(raw.count))
			: null,
	};

	for (let i = 0; i < raw.count; i++) {
		const { period, place } = events[sums.event[i]];

		sums.weight[i] = unzigzag(sums.weight[i]) + sums.count[i] * period;
		sums.event[i] = place;
		if (!(sums.node[i] >= 0 && sums.node[i] < limits.nodes &&
			sums.thread[i] >= 0 && sums.thread[i] < limits.threads))
			throw new RangeError("no such node or thread");
	}
	return sums;
}

function readThreads(raw, strings) {
	const processes = [], threads = [];

	for (let i = 0; i < raw.processes.length; i += 6) {
		const [name, pid, container, cgroup, exe, service] =
			raw.processes.slice(i, i + 6);

		processes.push({ name: strings[name], pid, container: strings[container],
			cgroup: strings[cgroup], exe: strings[exe], service: strings[service] });
	}
	for (let i = 0; i < raw.threads.length; i += 3) {
		const [name, tid, process] = raw.threads.slice(i, i + 3);

		threads.push({ name: strings[name], tid, process: processes[process] });
	}
	return threads;
}

function addCount(counts, { word, text, count }) {
	const known = counts.find((one) => one.word === word && one.text === text);

	if (known)
		known.count += count;
	else
		counts.push({ word, text, count });
	return counts;
}

/* Add counts with two texts, such as reasons of breakage or loss, to a list. */
function addCounts(counts, list, strings) {
	for (let i = 0; i < list.length; i += 3)
		addCount(counts, { word: strings[list[i]],
			text: strings[list[i + 1]] && visible(strings[list[i + 1]]),
			count: list[i + 2] });
}

/*
 * Return the event of running and waiting time together; undefined if the recording lacks one of
 * them.
 */
function wallOf(events) {
	const parts = events.filter(({ of, unit }) =>
		of === OF.waits || of === OF.samples && unit === "ns");
	const sum = (key) => parts.reduce((all, part) => all + key(part), 0);

	if (new Set(parts.map(({ of }) => of)).size < 2)
		return undefined;
	return { ...parts[0], name: "wall", of: OF.wall, parts, period: 0, frequency: 0,
		due: sum((part) => part.due), complete: sum((part) => part.complete),
		self: sum((part) => part.self), named: sum((part) => part.named),
		nameless: parts.flatMap(({ nameless }) => nameless).reduce(addCount, []),
		advice: parts.find(({ advice }) => advice)?.advice,
		broken: parts.flatMap(({ broken }) => broken),
		runtimes: parts.flatMap(({ runtimes }) => runtimes).reduce(addCount, []),
		losses: parts.flatMap(({ losses }) => losses),
		others: parts.flatMap(({ others }) => others),
		account: { sampled: sum(({ account }) => account.sampled),
			lost: sum(({ account }) => account.lost) } };
}

/*
 * Read the events by name, because a trace of several machines has an event of the same name for
 * each.
 */
function readEvents(raw, strings) {
	const byName = new Map();

	for (const event of raw.events) {
		const name = visible(strings[event.name]);
		const known = byName.get(name) ?? { ...event, name, unit: strings[event.unit],
			due: 0, complete: 0, broken: [], runtimes: [], losses: [], others: [],
			self: 0, named: 0, nameless: [],
			account: { sampled: 0, lost: 0 } };

		byName.set(name, known);
		known.due += event.due;
		known.complete += event.complete;
		known.self += event.self ?? 0;
		known.named += event.named ?? 0;
		for (let i = 0; i < event.nameless?.length; i += 3)
			addCount(known.nameless, { word: visible(event.nameless[i]),
				text: visible(event.nameless[i + 1]),
				count: event.nameless[i + 2] });
		known.account.sampled += event.account?.sampled ?? 0;
		known.account.lost += event.account?.lost ?? 0;
		addCounts(known.broken, event.broken, strings);
		addCounts(known.runtimes, event.runtimes ?? [], strings);
		addCounts(known.losses, event.losses, strings);
		addCounts(known.others, event.others, strings);
	}
	const wall = wallOf([...byName.values()]);

	if (wall && !byName.has(wall.name))
		byName.set(wall.name, wall);
	for (const event of byName.values()) {
		addCounts(event.losses, raw.losses, strings);
		addCounts(event.others, raw.others, strings);
	}
	return [...byName.values()];
}

function readInfos(raw, strings) {
	const infos = new Map();

	for (let i = 0; i < raw.length; i += 2)
		infos.set(strings[raw[i]], visible(strings[raw[i + 1]]));
	return infos;
}

function readHost(raw, strings) {
	return { ...raw, name: strings[raw.name] && visible(strings[raw.name]),
		kernel: strings[raw.kernel], arch: strings[raw.arch] };
}

/* Read one profile; rebuilt: see readLabels(). */
function readSide(source, labels, rebuilt) {
	const { raw, strings, from, to } = source;
	const events = readEvents(raw, strings);
	const places = raw.events.map(({ name, period }) => ({ period,
		place: events.findIndex((event) => event.name === visible(strings[name])) }));
	const numbers = readLabels(source, labels, rebuilt), threads = readThreads(raw, strings);
	const { parent, label } = readNodes(raw.nodes, numbers);

	readLines(raw.lines ?? [], strings, numbers, labels);

	const sums = readSums(raw.sums, places,
		{ nodes: parent.length, threads: threads.length });

	return { subject: strings[raw.subject] && visible(strings[raw.subject]), from, to,
		samples: raw.samples, places, // for class Samples
		host: readHost(raw.host, strings), infos: readInfos(raw.infos, strings), events,
		threads, parent, label, sums };
}

/* Return the sources of the profiles in the data of a page, of which a comparison has two. */
const sourcesOf = ({ profiles, strings, from, to }) =>
	profiles.map((raw) => ({ raw, strings, from, to }));

/* Return the modules of which profiles have different builds. */
function rebuiltModules(sources) {
	const builds = new Map(), rebuilt = new Set();

	for (const { raw: { commonNames }, strings } of sources)
		for (let i = 0; i < commonNames.length; i += 3) {
			const [module, build] = [strings[commonNames[i + 1]],
				strings[commonNames[i + 2]]];

			if (build && (builds.get(module) ?? build) !== build)
				rebuilt.add(module);
			if (build)
				builds.set(module, build);
		}
	return rebuilt;
}

/*
 * Read profiles: that of a page, or two that are compared. rebuilt: see readLabels(). page: the
 * version of skein and the classes of wait.
 */
function readSources({ skein, waits }, sources, rebuilt = rebuiltModules(sources)) {
	const labels = new Labels();
	const sides = sources.map((source) =>
		readSide(source, labels, sources.length > 1 ? rebuilt : null));

	return { skein, waits, sources, labels, sides, from: sides[0].from, to: sides[0].to,
		now: sides[0], before: sides[1] };
}

/* Read the data of a page: the profiles of its file, or of a part of a recording. */
function readRaw(raw) {
	const waits = [];

	for (const [number, name, hue, saturation, meaning] of raw.waits)
		waits[number] = { number, name, hue, saturation, meaning };
	return readSources({ skein: raw.skein, waits }, sourcesOf(raw), null);
}

/* Take the data out of the page; its text is the largest item there. */
function takeData() {
	const element = byId("data"), raw = JSON.parse(element.textContent);

	element.remove();
	return raw;
}

/* Take the nodes with columns of the timeline out of the page: "columns" or "samples". */
function takeColumns(id) {
	const element = byId(id), texts = [...element?.childNodes ?? []];

	element?.remove();
	return texts;
}
