// SPDX-License-Identifier: Apache-2.0
/* Show what a lane did at a time: facts, the stack, and links to other lanes. */

const STACK_LINES = 60; // functions of a stack that are shown, the innermost ones
const LINK_SPAN = 0.4; // share of what is shown that may lie between a link's ends before a move

class SlicePanel {
	constructor(timeline) {
		this.timeline = timeline;
		this.host = byId("slice");
		this.shown = null; // lane, from, to, at (ns) and what the server says
		this.chain = new WakeChain(this);
	}

	/*
	 * Ask what a lane did; return the answer, or null if there is none or a newer question.
	 * keep: the chain that is shown stays.
	 */
	async look(lane, time, keep = false) {
		const { feed } = this.timeline, control = new AbortController();

		if (!keep)
			this.chain.forget();
		this.control?.abort();
		this.control = control;
		try {
			const answer = await feed.at(lane, Math.floor(time), control.signal);

			if (control.signal.aborted)
				return null;
			if (!answer)
				throw new FeedError("refused", "Nothing is known there.");
			return this.show({ ...answer, lane, at: time });
		} catch (error) {
			if (!control.signal.aborted) {
				this.close();
				this.timeline.failed(feedError(error));
			}
			return null;
		}
	}

	show(shown) {
		this.shown = shown;
		this.host.replaceChildren(...this.parts(shown));
		this.host.hidden = false;
		this.host.scrollTop = 0;
		this.timeline.ask();
		return shown;
	}

	/* Stand at the side where the pointer is not, so that a double click meets the lanes. */
	side(left) {
		this.host.classList.toggle("left", left);
	}

	parts({ title, facts = [], links = [], stack = [] }) {
		const { label = "", heading } =
			this.timeline.rows.byLane.get(this.shown.lane) ?? {};
		const name = title ? visible(String(title)) : label;

		return [element("div", { class: "slice-head" },
			element("h2", { class: "name", text: name }),
			element("button", { type: "button", class: "close", text: "×",
				"aria-label": "Close", onclick: () => this.close(true) })),
		...[name === label ? "" : label, heading?.label].filter(Boolean)
			.map((text) => element("p", { class: "faint name", text })),
		this.facts(facts), ...this.links(links), ...this.chain.parts(this.shown),
		...this.stack(stack)];
	}

	facts(facts) {
		return element("dl", {}, ...facts.flatMap(([name, value]) =>
			[element("dt", { text: visible(String(name)) }),
				element("dd", { class: "name", text: visible(String(value)) })]));
	}

	links(links) {
		if (!links.length)
			return [];
		return [element("ul", { class: "links" }, ...links.map(({ text, lane, time }) =>
			element("li", {}, element("button", { type: "button", class: "go name",
				text: visible(String(text)),
				onclick: () => this.follow(String(lane), Number(time)) }))))];
	}

	/* The innermost function comes first: it is the one that waited. */
	stack(stack) {
		const inner = [...stack].reverse();

		if (!inner.length)
			return [];
		const more = inner.length - STACK_LINES;

		return [element("h3", { text: "Stack, the innermost function first" }),
			element("ol", { class: "stack" }, ...inner.slice(0, STACK_LINES).map((of) =>
				element("li", { class: "name", text: visible(String(of)) }))),
			...more > 0 ? [element("p", { class: "faint",
				text: `and ${plural(more, "outer function")}` })] : []];
	}

	/* Go to another lane and time, and show what is there. */
	async follow(lane, time, keep = false) {
		const { timeline } = this, { from, to } = timeline.view, edge = to - from;

		timeline.reveal(lane);
		if (time < from + edge * (0.5 - LINK_SPAN) || time > to - edge * (0.5 - LINK_SPAN))
			timeline.setView(time - edge / 2, time + edge / 2);
		await this.look(lane, time, keep);
		this.host.querySelector(".close")?.focus({ preventScroll: true });
	}

	close(focus = false) {
		this.control?.abort();
		this.chain.forget();
		this.shown = null;
		this.host.hidden = true;
		this.timeline.ask();
		if (focus)
			byId("names").focus({ preventScroll: true });
	}
}
