// SPDX-License-Identifier: Apache-2.0
/* Gestures on the graph: pinch, drag sideways, long press; with a mouse Ctrl+wheel. */

const LONG_PRESS = 450; // ms
const STILL = 9; // px that a finger may move in a long press

/* The gestures as the help shows them. docs/page.md has the same table. */
const GESTURES = [
	["tap", "zoom into a frame"],
	["long press", "select a frame: its figures, callers and callees"],
	["pinch", "widen what is shown, or narrow it"],
	["drag sideways", "move along, after a pinch"],
	["back", "the view before"],
];

const isTouched = () => matchMedia("(pointer: coarse)").matches;

class Touch {
	constructor(page) {
		const { canvas } = page.graph, on = (type, run) =>
			canvas.addEventListener(type, run, { passive: false });

		this.page = page;
		this.graph = page.graph;
		on("touchstart", (event) => this.start(event));
		on("touchmove", (event) => this.move(event));
		for (const type of ["touchend", "touchcancel"])
			on(type, (event) => this.end(event));
		// a long press would also open the browser's own menu
		on("contextmenu", (event) => this.held && event.preventDefault());
		on("wheel", (event) => {
			if (!event.ctrlKey)
				return;
			event.preventDefault();
			this.scale(event.clientX, event.clientX, Math.exp(-event.deltaY / 300));
		});
	}

	/* Return the middle of the fingers and their distance, sideways. */
	fingers({ touches }) {
		const x = Array.from(touches, (touch) => touch.clientX);

		return { middle: x.reduce((sum, one) => sum + one, 0) / x.length,
			apart: x.length > 1 ? Math.max(20, Math.abs(x[0] - x[1])) : 0 };
	}

	start(event) {
		const [first] = event.touches;

		clearTimeout(this.timer);
		this.last = this.fingers(event);
		this.begun = { x: first.clientX, y: first.clientY };
		this.held = false;
		if (event.touches.length === 1)
			this.timer = setTimeout(() => this.hold(), LONG_PRESS);
	}

	/* Select the frame under a finger that stays, without a zoom. */
	hold() {
		const edge = this.graph.canvas.getBoundingClientRect();
		const node = this.graph.at(this.begun.x - edge.x, this.begun.y - edge.y);

		this.held = true;
		if (node > 0)
			this.page.change({ select: this.page.path(node) }, true);
	}

	move(event) {
		const [first] = event.touches, { x, y } = this.begun;
		const now = this.fingers(event), { last } = this;
		const aside = Math.abs(first.clientX - x), down = Math.abs(first.clientY - y);

		if (Math.max(aside, down) > STILL || event.touches.length > 1)
			clearTimeout(this.timer);
		this.last = now;
		if (event.touches.length > 1 && last.apart) {
			event.preventDefault();
			this.pinched = true;
			this.scale(last.middle, now.middle, now.apart / last.apart);
		} else if (this.graph.free && aside > Math.max(STILL, down)) {
			event.preventDefault();
			this.scale(last.middle, now.middle, 1);
		}
	}

	/* A finger that held a frame or pinched does not tap it, too. */
	end(event) {
		clearTimeout(this.timer);
		if (this.held || this.pinched)
			event.preventDefault();
		if (event.touches.length)
			this.last = this.fingers(event);
		else
			this.held = this.pinched = false;
	}

	/* Show more or less around what was at one place and is now at another (client px). */
	scale(from, to, factor) {
		const edge = this.graph.canvas.getBoundingClientRect();

		this.graph.scale(from - edge.x, to - edge.x, factor);
		this.page.panes.hideTip();
		this.page.showTrail();
	}
}
