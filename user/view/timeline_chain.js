// SPDX-License-Identifier: Apache-2.0
/*
 * What held a wait up: the chain of its wakers backwards, as a list in the details of a slice, and
 * as arrows between the lanes.
 */

const ARROW = 5; // px, of an arrow's head

class WakeChain {
	constructor(panel) {
		this.panel = panel;
		this.shown = null; // what the server says
	}

	/* Ask for the chain of a wait, or of the wait before a time. */
	async load(lane, time) {
		const { timeline } = this.panel, control = new AbortController();

		this.control?.abort();
		this.control = control;
		try {
			const answer = await timeline.feed.chain(lane, Math.floor(time),
				control.signal);

			if (control.signal.aborted)
				return;
			if (!answer)
				throw new FeedError("refused", "Nothing is known there.");
			this.shown = answer;
			this.panel.show(this.panel.shown);
			this.panel.host.querySelector(".held-by")?.focus();
		} catch (error) {
			if (!control.signal.aborted)
				timeline.failed(feedError(error));
		}
	}

	forget() {
		this.control?.abort();
		this.shown = null;
	}

	/* Return a button that asks, or the chain that is there. */
	parts({ lane, at, chain }) {
		if (this.shown)
			return this.list(this.shown);
		return chain ? [element("button", { type: "button", class: "held",
			text: "What held this up?", onclick: () => this.load(lane, at) })] : [];
	}

	list({ sentence, end, from, to, links = [] }) {
		return [element("section", { class: "held-by", tabindex: "-1",
			"aria-label": "What held this up" },
		element("h3", { text: "What held this up" }),
		element("p", { class: "name", text: visible(String(sentence)) }),
		...links.length ? [element("p", { class: "faint", text: "Backwards in time:" })]
			: [],
		element("ol", { class: "links" },
			...links.map((link) => this.link(link, to - from))),
		...end ? [element("p", { class: "faint", text: visible(String(end)) })] : [])];
	}

	link({ name, text, lane, from, to }, whole) {
		return element("li", {}, element("button", { type: "button", class: "go name",
			text: visible(String(name)),
			onclick: () => this.panel.follow(String(lane), Number(to) - 1, true) }),
		element("div", { class: "name", text: `${percent(to - from, whole)}: ` +
			visible(String(text)) }));
	}

	/* Draw it where its lanes are shown: what each thread did, and which one it woke then. */
	mark(picture, pen) {
		const { lane, links = [] } = this.shown ?? {};
		const { rows } = picture.timeline;
		const edgesOf = (of) => picture.edges(rows.byLane.get(String(of)));
		let woken = edgesOf(lane);

		pen.strokeStyle = pen.fillStyle = MARKS[picture.theme].edge;
		for (const link of links) {
			const edges = edgesOf(link.lane);
			const [left, right] = [link.from, link.to].map((time) =>
				picture.place(Number(time)) / picture.dots);

			if (edges)
				this.line(pen, (edges[0] + edges[1]) / 2, Math.max(-3, left),
					Math.min(picture.wide + 3, right));
			if (edges && woken && right >= 0 && right <= picture.wide)
				this.arrow(pen, right, edges, woken);
			woken = edges;
		}
	}

	line(pen, y, left, right) {
		if (right > left)
			pen.fillRect(left, y - 1, right - left, 2);
	}

	/* Draw an arrow from the middle of a lane to the near edge of another one. */
	arrow(pen, x, from, to) {
		const down = to[0] > from[0], tip = down ? to[0] : to[1];
		const back = down ? -ARROW : ARROW;

		pen.lineWidth = 1.5;
		pen.beginPath();
		pen.moveTo(x, (from[0] + from[1]) / 2);
		pen.lineTo(x, tip + back);
		pen.stroke();
		pen.beginPath();
		pen.moveTo(x, tip);
		pen.lineTo(x - ARROW, tip + back);
		pen.lineTo(x + ARROW, tip + back);
		pen.fill();
	}
}
