// SPDX-License-Identifier: Apache-2.0
/* Show the facts of the recording, and the legend, which can hide kinds of code. */

/* Make a fact of the head: a name and a value; more is shown as a tooltip. */
function fact(name, value, more) {
	return element("div", { title: more }, element("dt", { text: name }),
		element("dd", { text: value }));
}

function completeText(event) {
	if (!event.due)
		return ["no user stacks"];
	const broken = event.broken.map(({ word, text, count: n }) =>
		`${percent(n, event.due)} ${word}${text && ` in ${text}`}`);

	return [percent(event.complete, event.due),
		[`${count(event.complete)} of ${count(event.due)} user stacks are complete`,
			...broken].join("\n")];
}

/* Describe how much of the self time is in functions with names, and what names the rest. */
function namedFact(event) {
	const { self, named, nameless, advice } = event;
	const share = percent(named, self), more = advice ? [advice] : [];

	more.push(`${weight(named, event)} of ${weight(self, event)} are in functions with names`);
	for (const { word, text, count: n } of nameless.slice(0, 10))
		more.push(`${percent(n, self)} ${text || "unknown"}` +
			(word && ` (build-id ${word})`));
	return fact("Named", advice ? `${share} (see 'skein symbolize')` : share, more.join("\n"));
}

/* Describe a runtime whose functions have no names: word is its name, text what gives names. */
function runtimeFact({ word, text, count: n }, samples) {
	const share = `${percent(n, samples.count)} without names`;

	return fact(word, `${share}: ${text}`,
		`${count(n)} of ${count(samples.count)} samples have functions of ${word} ` +
			"without names");
}

const lossText = (loss) => `${count(loss.count)} ${loss.word} (${loss.text})`;
const recordsIn = (losses) => losses.reduce((sum, loss) => sum + loss.count, 0);

/*
 * Compute the share of lost samples. Losses are those of the whole machine, because the process
 * of a lost sample is unknown, so they are compared with the samples of the whole machine, not
 * with the samples that this page shows.
 */
function lostShare({ account: { sampled, lost } }, part) {
	const all = sampled + lost;

	return { share: all ? lost / all : 0,
		text: `${percent(lost, all)} of the machine's samples ` +
			`${part ? "in this time " : ""}are lost ` +
			`(${part ? "about " : ""}${count(lost)} of ${count(all)})` };
}

/* Describe the losses. Records without stacks, such as switches, do not matter in a flame graph. */
function lostText(event, part) {
	const { account: { sampled, lost } } = event, all = [...event.losses, ...event.others];
	const value = lost ? `${percent(lost, sampled + lost)} of samples`
		: plural(recordsIn(all), "record");
	const first = lost ? [`${lostShare(event, part).text}: no share is off by more`] : [];

	return all.length ? [value, [...first, ...all.map(lossText)].join("\n")] : ["nothing"];
}

const SIDES = ["After", "Before"];

/* The recording options that choose samples. */
const CHOICES = ["pids", "tids", "comm", "cgroup", "cpus", "stacks"];

/* Return the name of the host; other hosts of merged recordings are only counted. */
const hostsOf = ({ name, hosts }) =>
	hosts > 1 ? `${name || "a machine"} and ${plural(hosts - 1, "other")}` : name;

const EVENT_MEANINGS = [undefined,
	"Stacks of waits, by the time that they lasted: an estimate from waits chosen by chance",
	"What the threads ran that ended the waits, by the time that these had lasted",
	"Time on CPUs and of waiting, of the same threads; without the time in which a thread " +
		"could run and had no CPU",
	"Where a JVM made exceptions, or allocated objects in the slow path, by their number: " +
		"an estimate where they were too many for a stack of each"];

const wallFacts = ({ weight: whole, waited }) => [
	fact("On CPU", duration(whole - waited)), fact("Waited", duration(waited))];

/* Make the facts of one recording; event is the recording's own. */
function factsOf(side, event, samples, data) {
	const { host } = side, facts = [], part = Boolean(side.from || side.to);
	const options = CHOICES.filter((key) => side.infos.has(`option.${key}`))
		.map((key) => `${key} ${side.infos.get(`option.${key}`)}`);
	const length = host.duration ? duration(host.duration) : "unfinished";
	const to = side.to ? duration(side.to) : "the end";
	const ended = host.duration ? `ended ${utc(host.utc + host.duration)}` : undefined;

	facts.push(fact("Host", hostsOf(host) || "unknown", `Linux ${host.kernel} ${host.arch}`));
	if (data.before)
		facts.push(fact("Recorded", side.subject || "the machine"));
	else
		facts.push(fact("Kernel", `${host.kernel || "unknown"} ${host.arch}`));
	facts.push(fact("Began", utc(host.utc), ended));
	facts.push(fact("Took", part ? `${duration(side.from)} to ${to} of ${length}` : length));
	if (event) {
		const [complete, broken] = completeText(event);
		const [lost, reasons] = lostText(event, part);
		const often = event.frequency ? `, ${event.frequency} Hz` : "";
		const waits = event.of === OF.waits || event.of === OF.wakers;
		const stacks = waits || event.of === OF.hits;
		const busy = event.unit === "ns" && host.duration && !part && host.hosts < 2
			? `${(samples.weight / host.duration).toFixed(2)} ` +
				(waits ? "threads on average" : `of ${host.cpus} CPUs`)
			: undefined;

		facts.push(fact("Event", event.name + often, EVENT_MEANINGS[event.of]));
		facts.push(fact(stacks ? "Stacks" : "Samples", count(samples.count)));
		facts.push(...event.of === OF.wall ? wallFacts(samples) : [fact(
			waits ? "Waited" : event.unit === "ns" ? "CPU time" : "Weight",
			weight(samples.weight, event), busy)]);
		if (busy && !data.before && event.of !== OF.wall)
			facts.push(fact(waits ? "Waiting" : "Busy", busy));
		facts.push(fact("Complete stacks", complete, broken));
		if (event.self)
			facts.push(namedFact(event));
		facts.push(fact("Lost", lost, reasons));
		facts.push(...event.runtimes.map((runtime) => runtimeFact(runtime, samples)));
	}
	if (options.length)
		facts.push(fact("Only", options.join(", ")));
	return facts;
}

/* Say why a page has no samples, and what to do next. */
function emptyParts({ now: { infos, events, host }, from, to, reason }) {
	if (reason)
		return [element("p", { text: reason })];
	const only = CHOICES.filter((key) => infos.has(`option.${key}`));
	const sampled = events.reduce((sum, { account }) => sum + account.sampled, 0);
	const next = [];

	if (only.length)
		next.push(`Only ${only.map((key) => `${key} ${infos.get(`option.${key}`)}`)
			.join(", ")} was recorded. Record without this choice to see what ran: ` +
			"sudo skein record -d 10s");
	if (from || to)
		next.push("The page has only a part of the time: export without --from and --to.");
	if (sampled && !only.length)
		next.push(`The recording has ${plural(sampled, "sample")}: the options of the ` +
			"export left all of them out.");
	if (host.duration && host.duration < 1e9)
		next.push(`The recording took ${duration(host.duration)}, perhaps less than the ` +
			"time between two samples: record longer (-d 10s) or more often " +
			"(-F 999).");
	if (!next.length)
		next.push("Record while the program works, for longer: sudo skein record -d 30s",
			"Where threads wait, what for: sudo skein record -e cpu,off-cpu -d 10s");
	return [element("p", { text: "There are no samples in this profile: " +
		"nothing that was asked for ran while it was recorded." }),
	element("p", { class: "strong", text: "What to do next" }),
	element("ul", {}, ...next.map((text) => element("li", { text })))];
}

/* Return a side's own version of the shown event. */
const ownEvent = (side, event) => event && side.events.find(({ name }) => name === event.name);

function showHead(data, view) {
	const where = hostsOf(data.now.host), { subject } = data.now;
	const kind = data.served ? "Recording" : "Flame graph"; // what a page without a subject is
	const what = data.before ? "What changed" : subject || kind;
	const rows = data.sides.map((side, which) => {
		const of = (column) => view.whole[2 * which + column] ?? 0;
		const waited = view.classes.reduce((sum, _, i) => sum + view.whole[WAITS + i], 0);
		const samples = { weight: of(WEIGHT), count: of(COUNT), waited };
		const facts = factsOf(side, ownEvent(side, view.event), samples, data);
		const name = element("div", { class: "side" },
			element("dt", { text: SIDES[which] }),
			...data.files
				? [element("dd", { class: "name", text: data.files[which] })] : []);

		return element("div", { class: "facts" }, ...(data.before ? [name] : []), ...facts);
	});

	byId("title").textContent = where && !data.before
		? `${what} ${subject ? "on" : "of"} ${where}` : what;
	document.title = [what, where, "skein"].filter(Boolean).join(" · ");
	byId("facts").replaceChildren(...rows);
}

/*
 * Return how many samples of the page are lost, of how many that were due, where the page shows
 * others than all of the machine: "" where it does not. The threads of lost samples are unknown, so
 * that the page's are taken as lost as often as the machine's.
 */
function pageLost({ of, account: { sampled, lost } }, shown) {
	const missing = sampled ? Math.round(shown * lost / sampled) : 0;

	if (of !== OF.samples || shown === sampled || !missing)
		return "";
	return `, about ${count(missing)} of the ${count(shown + missing)} due on this page`;
}

/* Warn if so much is lost that the graph is not reliable. */
function showWarning(data, view) {
	const texts = [];

	data.sides.forEach((side, which) => {
		const own = ownEvent(side, view.event), part = side.from || side.to;
		const lost = own && lostShare(own, part), shown = view.whole[2 * which + COUNT];
		const when = data.before ? `${SIDES[which]}: ` : "";

		if (!side.host.duration)
			texts.push(`${when}the recording has no end: it still ran, ` +
				"or its recorder was killed.");
		if (lost?.share > 0.01)
			texts.push(`${when}${lost.text}${pageLost(own, shown)}: ` +
				`${own.losses.map(lossText).join("; ")}.`);
	});
	byId("warning").hidden = !texts.length;
	byId("warning").textContent = texts.join(" ");
}

/* The switch between the time on CPUs, of waiting, and both, where a recording has them. */
const MODES = [
	[OF.samples, "On-CPU", "Where threads ran (1)"],
	[OF.waits, "Off-CPU", "Where threads waited (2)"],
	[OF.wall, "Wall", "Where threads ran and waited, together (3)"],
	[OF.wakers, "Wakers", "What the threads ran that ended the waits (4)"],
];

class Modes {
	constructor(page) {
		this.page = page;
		this.host = byId("modes");
		this.parts = MODES.map(([of, text, title]) => ({ text, title,
			event: page.views.events.find((event) => event.of === of) }));
		this.used = page.views.events.some(({ of }) => of === OF.waits) &&
			page.views.events.length > 1;
	}

	/* Return whether all events are reached by the switch. */
	cover(events) {
		return events.length < 2 || this.used &&
			events.every((event) => this.parts.some((part) => part.event === event));
	}

	show(event) {
		const parts = this.parts.filter((part) => part.event);

		this.host.hidden = !this.used;
		this.host.replaceChildren(...parts.map((part) => element("button", {
			type: "button", text: part.text, title: part.title,
			"data-event": part.event.name,
			"aria-pressed": String(part.event.name === event?.name),
			onclick: () => {
				this.change(part.event);
				this.host.querySelector("[aria-pressed=true]")?.focus();
			} })));
	}

	choose(number) {
		const { event } = this.parts[number];

		if (this.used && event)
			this.change(event);
	}

	/* The event that is shown first has no name in the address. */
	change(event) {
		const first = this.page.views.eventNamed("");

		this.page.change({ event: event.name === first.name ? "" : event.name });
	}
}

/* The classes of wait with their colours and times; a click leaves a class out. */
class WaitLegend {
	constructor(page) {
		this.page = page;
		this.host = byId("classes");
	}

	name(number) {
		return number === RUNNING ? "running" : this.page.data.waits[number].name;
	}

	swatch(number) {
		const made = element("span", { class: "swatch", "aria-hidden": "true" });

		made.style.background = number === RUNNING ? this.page.palette.kind(KIND.native)
			: this.page.palette.wait(number);
		return made;
	}

	/* Show the times of all classes of the event, including hidden ones. */
	show(state) {
		const { view } = this.page, { times } = view;
		const numbers = [...view.classes].sort((a, b) => times[b] - times[a]);

		if (times[RUNNING])
			numbers.unshift(RUNNING);
		this.host.hidden = !view.classes.length;
		this.host.replaceChildren(...numbers.map((number) =>
			this.chip(number, state.waits, numbers)));
	}

	chip(number, hidden, numbers) {
		const { data, view: { times } } = this.page, bit = 1 << number;
		const whole = numbers.reduce((sum, other) => sum + times[other], 0);
		const all = numbers.reduce((bits, other) => bits | 1 << other, 0);
		const meaning = (number === RUNNING ? "Time on CPUs"
			: `Waits for ${data.waits[number].meaning}`) +
			`: ${percent(times[number], whole)} of the time.`;
		const click = (event) => {
			const only = hidden === (all & ~bit) ? 0 : all & ~bit;

			this.page.change(
				{ waits: event.ctrlKey || event.metaKey ? only : hidden ^ bit });
			this.host.querySelector(`[data-wait="${number}"]`)?.focus();
		};

		return element("button", { type: "button", "data-wait": number, onclick: click,
			"aria-pressed": String(!(hidden & bit)),
			title: `${meaning} ${hidden & bit ? "Show" : "Leave out"} this time. ` +
				"Ctrl+click: only this" },
		this.swatch(number), span("", this.name(number)),
		span("faint", duration(times[number])));
	}
}

const MODULES = 12; // most modules that have a colour of their own

class Legend {
	constructor(page) {
		this.page = page;
		this.host = byId("legend");
	}

	swatch(kind) {
		const made = element("span", { class: "swatch", "aria-hidden": "true" });

		made.style.background = this.page.palette.kind(KINDS[kind] ? kind : KIND.none);
		return made;
	}

	/* Return for each node of the recorded tree the kinds on its path from the root, by bit. */
	kindsAbove() {
		const { base: { parent, label, count: nodes } } = this.page.views;
		const { kind } = this.page.data.labels, kinds = new Uint16Array(nodes);

		for (let node = 1; node < nodes; node++)
			kinds[node] = kinds[parent[node]] | 1 << kind[label[node]];
		return kinds;
	}

	/*
	 * Compute, by kind, the self time and the time of the stacks that contain it, also of
	 * hidden kinds, from the profile itself. Waits have no self time here: almost all of them
	 * end in the kernel.
	 */
	shares() {
		const { data, views, view } = this.page, { kind } = data.labels;
		const { sums } = data.now, values = view.unit === COUNT ? sums.count : sums.weight;
		const self = new Float64Array(KIND.group + 1), place = views.base.place[0];
		const within = self.slice(), kinds = this.kinds ??= this.kindsAbove();
		let whole = 0;

		for (let i = 0; i < sums.node.length; i++) {
			if (!view.event?.numbers[0].includes(sums.event[i]) ||
				this.page.state.nogc && sums.collecting?.[i])
				continue;
			const node = place ? place[sums.node[i]] : sums.node[i];

			whole += values[i];
			for (let of = 0; of < within.length; of++)
				within[of] += kinds[node] >> of & 1 ? values[i] : 0;
			if (!view.classes.length || !sums.wait[i])
				self[kind[views.base.label[node]] ?? KIND.none] += values[i];
		}
		return { self, within, whole };
	}

	/* Return the modules with a colour of their own: those with the most self time. */
	modules() {
		const { data: { now: { sums }, labels }, views: { base } } = this.page;
		const times = new Map(), place = base.place[0];

		if (this.coloured)
			return this.coloured;
		for (let i = 0; i < sums.node.length; i++) {
			const label = base.label[place ? place[sums.node[i]] : sums.node[i]];
			const module = label >= 0 ? labels.shortModule(label) : "";

			times.set(module, (times.get(module) ?? 0) + sums.weight[i]);
		}
		times.delete("");
		return this.coloured = [...times].sort((a, b) => b[1] - a[1]).slice(0, MODULES)
			.map(([module]) => module);
	}

	/* Show the colours of modules; a click searches for the module. */
	moduleChips() {
		const { page, page: { palette } } = this;

		return (palette.modules ?? []).map((module, number) => {
			const made = element("span", { class: "swatch", "aria-hidden": "true" });

			made.style.background = palette.module(number);
			return element("button", { type: "button", class: "module",
				title: `Search for the functions of ${module}`,
				onclick: () => page.searchFor(module) }, made, span("", module));
		});
	}

	show(state) {
		const { self, within, whole } = this.shares();
		const { data: { labels }, views } = this.page;
		const there = new Set(
			labels.kind.filter((_, label) => label !== views.hiddenLabel));
		const shown = Object.keys(KINDS).map(Number)
			.filter((kind) => there.has(kind) && kind !== KIND.group);
		const chips = shown.map((kind) => kind === KIND.mark ? this.markChip(state.hidden)
			: this.stackChip(kind, self, within[kind], whole));

		chips.push(...this.moduleChips());

		if (this.page.view.before)
			chips.push(...this.gone(state), this.scale());
		this.host.replaceChildren(...chips);
	}

	/* Show the share of stacks, by their time, that contain a kind. */
	stackChip(kind, self, within, whole) {
		const { state, view } = this.page, { name } = KINDS[kind];
		const of = view.classes.length ? " of the time on CPUs" : " of the time";
		const running = self.reduce((a, b) => a + b, 0), share = percent(within, whole);
		const own = running ? ` ${percent(self[kind], running)}${of} is time of these ` +
			"frames themselves, without what they call." : "";

		return this.chip(kind, state.hidden, whole ? `${share} of stacks` : "",
			`Stacks with ${name} frames have ${share} of the time.${own}`);
	}

	/*
	 * Show the share of stacks with a mark: of the stacks that should reach the first
	 * function of their thread, the complement of "Complete stacks" in the head.
	 */
	markChip(hidden) {
		const { data, view } = this.page, event = ownEvent(data.now, view.event);
		const due = event?.due ?? 0, broken = due - (event?.complete ?? 0);
		const share = percent(broken, due);

		return this.chip(KIND.mark, hidden, broken ? `${share} of stacks` : "", broken
			? `${share} of the user stacks (${count(broken)} of ${count(due)}) ` +
				"are not complete: a mark stands where their callers are missing."
			: "A mark stands where callers are missing.");
	}

	chip(kind, hidden, share, meaning) {
		const bit = 1 << kind, shown = !(hidden & bit), { name } = KINDS[kind];
		const title = `${meaning} ${shown ? "Hide" : "Show"} them; ` +
			"their time stays with what called them. Ctrl+click: only these";
		const click = (event) => {
			const others = ((1 << KIND.group) - 1) & ~bit;
			const only = hidden === others ? 0 : others;

			this.page.change(
				{ hidden: event.ctrlKey || event.metaKey ? only : hidden ^ bit });
			this.host.querySelector(`[data-kind="${kind}"]`)?.focus();
		};
		const { view } = this.page;
		// frames have no colour of their kind in a comparison, or where all of them wait
		const plain = view.before || view.classes.length && !view.times[RUNNING] ||
			this.page.palette.modules;
		const swatch = plain ? [] : [this.swatch(kind)];

		return element("button", { type: "button", "data-kind": kind, title, onclick: click,
			"aria-pressed": String(shown) },
		...swatch, span("", name), ...share ? [span("faint", share)] : []);
	}

	/*
	 * Offer to show nodes that exist only in the old profile, which have no width by the new
	 * one.
	 */
	gone(state) {
		const { view } = this.page;
		let share = 0;

		for (let node = 1; node < view.count; node++)
			if (!shareOf(view, node)) {
				share += shareOf(view, node, BEFORE);
				node = view.end[node] - 1;
			}
		if (!share || state.width !== "")
			return [];
		return [element("button", { type: "button", class: "gone",
			text: `${percent(share, 1)} of before is gone: show`,
			onclick: () => this.page.change({ width: "both" }) })];
	}

	/* Explain the colours of a comparison. */
	scale() {
		const { palette, graph } = this.page, most = graph.most, parts = [];

		for (const step of [-1, -0.5, -0.15, 0, 0.15, 0.5, 1]) {
			const box = element("span", { class: "step", "aria-hidden": "true" });

			box.style.background = palette.change(step, strength(step, 1));
			parts.push(box);
		}
		return element("span",
			{ class: "scale", role: "img", "aria-label": "Blue shrank, red grew" },
			span("", `shrank ${points(-most)}`), ...parts,
			span("", `grew ${points(most)}`));
	}
}
