// SPDX-License-Identifier: Apache-2.0
/* What was recorded, and the legend, which hides kinds of code. */

/* A fact of the head: what it is, and what is told of it; more is shown when it is pointed at. */
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
		[`${count(event.complete)} of ${count(event.due)} user stacks are complete`, ...broken]
			.join("\n")];
}

const lossText = (loss) => `${count(loss.count)} ${loss.word} (${loss.text})`;
const recordsIn = (losses) => losses.reduce((sum, loss) => sum + loss.count, 0);
const lostRecords = (event) => recordsIn(event.losses);
/* Switches have no stacks: without them nothing is missing in a flame graph. */
const lostOfGraph = (event) =>
	recordsIn(event.losses.filter(({ word }) => !word.startsWith("switches ")));

function lostText(event) {
	const lost = lostRecords(event);

	return lost ? [plural(lost, "record"), event.losses.map(lossText).join("\n")] : ["nothing"];
}

const SIDES = ["After", "Before"];

/* What of the recording's options chose samples. */
const CHOICES = ["pids", "tids", "comm", "cgroup", "cpus", "stacks"];

/* Its name; of merged recordings those of the others are not told. */
const hostsOf = ({ name, hosts }) =>
	hosts > 1 ? `${name || "a machine"} and ${plural(hosts - 1, "other")}` : name;

/* The facts of one recording; the event is that side's own. */
function factsOf(side, event, samples, data) {
	const { host } = side, facts = [], part = Boolean(data.from || data.to);
	const options = CHOICES.filter((key) => side.infos.has(`option.${key}`))
		.map((key) => `${key} ${side.infos.get(`option.${key}`)}`);
	const length = host.duration ? duration(host.duration) : "unfinished";
	const to = data.to ? duration(data.to) : "the end";
	const ended = host.duration ? `ended ${utc(host.utc + host.duration)}` : undefined;

	facts.push(fact("Host", hostsOf(host) || "unknown", `Linux ${host.kernel} ${host.arch}`));
	if (!data.before)
		facts.push(fact("Kernel", `${host.kernel || "unknown"} ${host.arch}`));
	facts.push(fact("Began", utc(host.utc), ended));
	facts.push(fact("Took", part ? `${duration(data.from)} to ${to} of ${length}` : length));
	if (event) {
		const [complete, broken] = completeText(event), [lost, reasons] = lostText(event);
		const often = event.frequency ? `, ${event.frequency} Hz` : "";
		const busy = event.unit === "ns" && host.duration && !part && host.hosts < 2
			? `${(samples.weight / host.duration).toFixed(2)} of ${host.cpus} CPUs` : undefined;

		facts.push(fact("Event", event.name + often));
		facts.push(fact("Samples", count(samples.count)));
		facts.push(fact(event.unit === "ns" ? "CPU time" : "Weight",
			weight(samples.weight, event), busy));
		if (busy && !data.before)
			facts.push(fact("Busy", busy));
		facts.push(fact("Complete stacks", complete, broken));
		facts.push(fact("Lost", lost, reasons));
	}
	if (options.length)
		facts.push(fact("Only", options.join(", ")));
	return facts;
}

/* The event that is shown, as a side has it. */
const ownEvent = (side, event) => event && side.events.find(({ name }) => name === event.name);

function showHead(data, view) {
	const where = hostsOf(data.now.host), what = data.before ? "What changed" : "Flame graph";
	const rows = data.sides.map((side, which) => {
		const of = (column) => view.whole[2 * which + column] ?? 0;
		const samples = { weight: of(WEIGHT), count: of(COUNT) };
		const facts = factsOf(side, ownEvent(side, view.event), samples, data);
		const name = element("div", { class: "side" }, element("dt", { text: SIDES[which] }));

		return element("div", { class: "facts" }, ...(data.before ? [name] : []), ...facts);
	});

	byId("title").textContent = where && !data.before ? `${what} of ${where}` : what;
	document.title = [what, where, "skein"].filter(Boolean).join(" · ");
	byId("facts").replaceChildren(...rows);
}

/* A message where too much is lost for the picture to be trusted. */
function showWarning(data, view) {
	const texts = [];

	data.sides.forEach((side, which) => {
		const own = ownEvent(side, view.event), lost = own ? lostOfGraph(own) : 0;
		const when = data.before ? `${SIDES[which]}: ` : "";

		if (!side.host.duration)
			texts.push(`${when}the recording has no end: it still ran, or its recorder was killed.`);
		if (own && lost > 0.01 * (view.whole[2 * which + COUNT] + lost))
			texts.push(`${when}${plural(lostRecords(own), "record is", "records are")} lost: ` +
				`${own.losses.map(lossText).join("; ")}.`);
	});
	byId("warning").hidden = !texts.length;
	byId("warning").textContent = texts.join(" ");
}

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

	/* Share of self time by kind, hidden ones too, from the profile itself. */
	shares() {
		const { data, views, view } = this.page, { kind } = data.labels;
		const { sums } = data.now, values = view.unit === COUNT ? sums.count : sums.weight;
		const shares = new Float64Array(KIND.group + 1), place = views.base.place[0];

		for (let i = 0; i < sums.node.length; i++)
			if (sums.event[i] === view.event?.numbers[0]) {
				const node = place ? place[sums.node[i]] : sums.node[i];

				shares[kind[views.base.label[node]] ?? KIND.none] += values[i];
			}
		return shares;
	}

	show(state) {
		const shares = this.shares(), whole = shares.reduce((a, b) => a + b, 0);
		const there = new Set(this.page.data.labels.kind);
		const shown = Object.keys(KINDS).map(Number)
			.filter((kind) => there.has(kind) && kind !== KIND.group);
		const chips = shown.map((kind) =>
			this.chip(kind, percent(shares[kind], whole), state.hidden));

		if (this.page.view.before)
			chips.push(...this.gone(state), this.scale());
		this.host.replaceChildren(...chips);
	}

	chip(kind, share, hidden) {
		const bit = 1 << kind, shown = !(hidden & bit), { name } = KINDS[kind];
		const title = `${share} is time of ${name} frames themselves, without what they call. ` +
			`${shown ? "Hide" : "Show"} them; their time stays with what called them. ` +
			"Ctrl+click: only these";
		const click = (event) => {
			const others = ((1 << KIND.group) - 1) & ~bit, only = hidden === others ? 0 : others;

			this.page.change({ hidden: event.ctrlKey || event.metaKey ? only : hidden ^ bit });
			this.host.querySelector(`[data-kind="${kind}"]`)?.focus();
		};
		const swatch = this.page.view.before ? [] : [this.swatch(kind)];

		return element("button", { type: "button", "data-kind": kind, title, onclick: click,
			"aria-pressed": String(shown) }, ...swatch, span("", name), span("faint", share));
	}

	/* What is gone has no width by what is there now: a way to see it. */
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

	/* Of a comparison: what the colours say. */
	scale() {
		const { palette, graph } = this.page, most = graph.most, parts = [];

		for (const step of [-1, -0.5, -0.15, 0, 0.15, 0.5, 1]) {
			const box = element("span", { class: "step", "aria-hidden": "true" });

			box.style.background = palette.change(step, strength(step, 1));
			parts.push(box);
		}
		return element("span", { class: "scale", role: "img", "aria-label": "Blue shrank, red grew" },
			span("", `shrank ${points(-most)}`), ...parts, span("", `grew ${points(most)}`));
	}
}
