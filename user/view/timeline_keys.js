// SPDX-License-Identifier: Apache-2.0
/* The keys of the timeline, and the bar that moves its border. docs/page.md has the same keys. */

const HIGH_KEY = "skein-timeline-high"; // px, of this tab, so that a reload keeps it

/* The bar between the timeline and the flame graph, which moves their border. */
class Splitter {
	constructor(timeline) {
		this.timeline = timeline;
		this.bar = byId("splitter");
		this.bar.addEventListener("pointerdown", (event) => {
			this.bar.setPointerCapture(event.pointerId);
			this.from = event.clientY - timeline.host.offsetHeight;
		});
		this.bar.addEventListener("pointermove", (event) => {
			if (this.bar.hasPointerCapture(event.pointerId))
				this.set(event.clientY - this.from);
		});
		this.bar.addEventListener("keydown", (event) => this.key(event));
		this.restore();
	}

	restore() {
		try {
			const high = Number(sessionStorage.getItem(HIGH_KEY));

			if (high > 0)
				this.set(high);
		} catch {
			// without storage the border is where it is at first
		}
	}

	set(high) {
		const most = Math.max(160, innerHeight - 200);
		const px = Math.round(Math.max(140, Math.min(most, high)));

		this.timeline.host.style.setProperty("--high", `${px}px`);
		this.bar.setAttribute("aria-valuenow", String(Math.round(100 * px / innerHeight)));
		try {
			sessionStorage.setItem(HIGH_KEY, String(px));
		} catch {
			// without storage a reload forgets it
		}
	}

	key(event) {
		const step = { ArrowUp: -20, ArrowDown: 20 }[event.key];

		if (!step)
			return;
		event.preventDefault();
		event.stopPropagation();
		this.set(this.timeline.host.offsetHeight + step);
	}
}

/* Keys that work while the timeline has the focus; they go before KEYS. */
const LANE_KEYS = [
	{ keys: ["w"], shown: "w", what: "zoom the timeline in",
		run: ({ timeline }) => timeline.zoom(1 / KEY_ZOOM, timeline.middle) },
	{ keys: ["s"], shown: "s", what: "zoom the timeline out",
		run: ({ timeline }) => timeline.zoom(KEY_ZOOM, timeline.middle) },
	{ keys: ["a", "ArrowLeft"], shown: "a ←", what: "earlier",
		run: ({ timeline }) => timeline.keyPan(-1) },
	{ keys: ["d", "ArrowRight"], shown: "d →", what: "later",
		run: ({ timeline }) => timeline.keyPan(1) },
	{ keys: ["ArrowUp"], shown: "↑", what: "the lane above",
		run: ({ timeline }) => timeline.goTo(Math.max(0, timeline.current - 1)) },
	{ keys: ["ArrowDown"], shown: "↓", what: "the lane below",
		run: ({ timeline }) => timeline.goTo(timeline.current + 1) },
	{ keys: ["Enter"], shown: "Enter", what: "select the lane: its flame graph",
		run: ({ timeline }) => {
			const row = timeline.rows.shown[timeline.current];

			if (row)
				timeline.selectLane(row);
		} },
	{ keys: [" "], shown: "Space", what: "fold a process or CPU out, or back",
		run: ({ timeline }) => {
			const row = timeline.rows.shown[timeline.current];

			if (row?.inside.length)
				timeline.toggle(row);
		} },
	{ keys: ["r"], shown: "r", what: "select the time that is shown: its flame graph",
		run: ({ timeline }) => timeline.select(timeline.view, timeline.state.lane) },
	{ keys: ["x"], shown: "x", what: "what the lane did in the middle, or at the pointer",
		run: ({ timeline }) => timeline.lookAtCurrent() },
	{ keys: ["n"], shown: "n", what: "to the next mark of a function that is searched for",
		run: ({ timeline }) => timeline.found.go(1) },
	{ keys: ["N"], shown: "N", what: "to the mark before",
		run: ({ timeline }) => timeline.found.go(-1) },
	{ keys: ["0"], shown: "0", what: "the whole recording",
		run: ({ timeline }) => timeline.zoomOut() },
	{ keys: ["Escape", "Backspace"], shown: "Esc",
		what: "close the details, then select nothing",
		run: ({ timeline }) => timeline.escape() },
];
