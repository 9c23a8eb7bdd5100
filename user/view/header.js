// SPDX-License-Identifier: Apache-2.0
/* What was recorded, and the legend, which hides kinds of code. */

/* A fact of the head: what it is, and what is told of it; more is shown when it is pointed at. */
function fact(name, value, more) {
	return element("div", { title: more }, element("dt", { text: name }), element("dd", { text: value }));
}

function completeText(event) {
	if (!event.due)
		return ["no user stacks"];
	const broken = event.broken.map(({ reason, module, count: n }) =>
		`${percent(n, event.due)} ${reason}${module === "[no name]" ? "" : ` in ${module}`}`);

	return [percent(event.complete, event.due),
		[`${count(event.complete)} of ${count(event.due)} user stacks are complete`, ...broken].join("\n")];
}

function lostText(event) {
	const lost = event.losses.reduce((sum, loss) => sum + loss.count, 0);

	return [lost ? plural(lost, "record") : "nothing",
		event.losses.map((loss) => `${count(loss.count)} ${loss.word}: ${loss.text}`).join("\n") || undefined];
}

/* What of the recording's options chose samples. */
const CHOICES = ["option.pids", "option.tids", "option.comm", "option.cgroup", "option.cpus", "option.stacks"];

/* The facts of one recording; the event is that side's own. */
function factsOf(side, event, samples, data) {
	const { host } = side, facts = [];
	const options = CHOICES.filter((key) => side.infos.has(key))
		.map((key) => `${key.slice(key.indexOf(".") + 1)} ${side.infos.get(key)}`);
	const length = data.to || data.from
		? `${duration(data.from)} to ${data.to ? duration(data.to) : "the end"} of ${duration(host.duration)}`
		: host.duration ? duration(host.duration) : "unfinished";

	facts.push(fact("Host", host.name || "unknown", `Linux ${host.kernel} ${host.arch}`));
	if (!data.before)
		facts.push(fact("Kernel", `${host.kernel || "unknown"} ${host.arch}`));
	facts.push(fact("Began", utc(host.utc), host.duration ? `ended ${utc(host.utc + host.duration)}` : undefined));
	facts.push(fact("Took", length));
	if (event) {
		const [complete, broken] = completeText(event), [lost, reasons] = lostText(event);
		const busy = event.unit === "ns" && host.duration && !data.from && !data.to
			? `${(samples.weight / host.duration).toFixed(2)} of ${host.cpus} CPUs` : undefined;

		facts.push(fact("Event", event.frequency ? `${event.name}, ${event.frequency} Hz` : event.name));
		facts.push(fact("Samples", count(samples.count)));
		facts.push(fact(event.unit === "ns" ? "CPU time" : "Weight", weight(samples.weight, event), busy));
		if (busy && !data.before)
			facts.push(fact("Busy", busy));
		facts.push(fact("Complete stacks", complete, broken));
		facts.push(fact("Lost", lost, reasons));
	}
	if (options.length)
		facts.push(fact("Only", options.join(", ")));
	return facts;
}

function showHead(data, view) {
	const { event } = view, title = data.now.host.name || "";
	const rows = data.sides.map((side, which) => {
		const own = event && side.events.find(({ name }) => name === event.name);
		const samples = { weight: view.whole[2 * which + WEIGHT] ?? 0, count: view.whole[2 * which + COUNT] ?? 0 };
		const facts = factsOf(side, own, samples, data);

		return data.before ? [element("div", { class: "side" }, element("dt", { text: which ? "Before" : "After" })), ...facts] : facts;
	});

	byId("title").textContent = data.before ? "What changed" : `Flame graph${title && ` of ${title}`}`;
	document.title = `${data.before ? "What changed" : "Flame graph"}${title && ` · ${title}`} · skein`;
	byId("facts").replaceChildren(...rows.map((facts) => element("div", { class: "facts" }, ...facts)));
}

/* A message where too much is lost for the picture to be trusted. */
function showWarning(data, view) {
	const texts = [];

	data.sides.forEach((side, which) => {
		const own = view.event && side.events.find(({ name }) => name === view.event.name);
		const lost = own?.losses.reduce((sum, loss) => sum + loss.count, 0) ?? 0;
		const when = data.before ? which ? "Before: " : "After: " : "";

		if (!side.host.duration)
			texts.push(`${when}the recording has no end: it still ran, or its recorder was killed.`);
		if (own && lost > 0.01 * (view.whole[2 * which + COUNT] + lost))
			texts.push(`${when}${plural(lost, "record is", "records are")} lost: ${own.losses.map((l) => `${count(l.count)} ${l.word} (${l.text})`).join("; ")}.`);
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
		const { data, view } = this.page, shares = this.shares(), whole = shares.reduce((a, b) => a + b, 0);
		const there = new Set(data.labels.kind);
		const chips = Object.entries(KINDS).filter(([kind]) => there.has(Number(kind)) && Number(kind) !== KIND.group)
			.map(([kind, { name }]) => this.chip(Number(kind), name, percent(shares[kind], whole), state.hidden));

		this.host.replaceChildren(...chips, ...(view.before ? [...this.gone(state), this.scale()] : []));
	}

	chip(kind, name, share, hidden) {
		const bit = 1 << kind, shown = !(hidden & bit);
		const click = (event) => {
			const others = ((1 << KIND.group) - 1) & ~bit;
			const only = event.altKey || event.ctrlKey;

			this.page.change({ hidden: only ? hidden === others ? 0 : others : hidden ^ bit });
			this.host.querySelector(`[data-kind="${kind}"]`)?.focus();
		};
		const swatch = this.page.view.before ? [] : [this.swatch(kind)];

		return element("button", { type: "button", "data-kind": kind, "aria-pressed": String(shown), onclick: click,
			title: `${shown ? "Hide" : "Show"} ${name} frames; their time stays with what called them. Ctrl+click: only these` },
		...swatch, element("span", { text: name }), element("span", { class: "faint", text: share }));
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
		return share && state.width === "" ? [element("button", { type: "button", class: "gone",
			text: `${percent(share, 1)} of before is gone: show`,
			onclick: () => this.page.change({ width: "both" }) })] : [];
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
			element("span", { text: `shrank ${points(-most)}` }), ...parts, element("span", { text: `grew ${points(most)}` }));
	}
}
