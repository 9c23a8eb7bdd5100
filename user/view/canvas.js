// SPDX-License-Identifier: Apache-2.0
/*
 * Draw the flame graph. Only visible parts are drawn: rows within the window, and the children of
 * a node that are at least NARROW px wide; narrower neighbours are drawn as one thin strip, so
 * that no time seems to be missing.
 */

const ROW = 20; // px, including the gap
const NARROW = 0.7; // px; narrower nodes are not drawn individually
const TEXT_FROM = 26; // px; wider nodes show a name
const ZOOM_TIME = 160; // ms
const STRIPE = 4; // px: height of the times by class of wait
const PURE = 0.995; // from this share on, all time of a frame counts as of one class
const FOLD = "▸ "; // before the names of a folded chain
const FOLD_WIDTH = 18; // px: where a click unfolds
const CLOSEST = 1e-5; // least part of the whole that a pinch shows
const DRAWN = 400; // most characters of a name that are drawn

class Graph {
	/* host: the element with the canvas; skipped: rows at the root that are not drawn. */
	constructor(host, labels, palette, skipped = 0) {
		const canvas = this.canvas = host.querySelector("canvas");

		this.sheet = host.querySelector(".sheet");
		this.skipped = skipped;
		this.labels = labels;
		this.palette = palette;
		this.pen = canvas.getContext("2d", { alpha: false });
		this.scroller = host.querySelector(".scroll");
		this.widths = [];
		this.upward = false;
		this.zoomed = this.selected = this.pointed = 0;
		this.matches = null; // by label, while there is a search
		this.from = 0;
		this.span = 1;
		this.drawn = 0; // number of rectangles in the last drawing
		this.printing = 0; // px, the width on paper
		this.scroller.addEventListener("scroll", () => this.ask());
		new ResizeObserver(() => this.ask(true)).observe(this.scroller);
	}

	/* Show another tree. The range of the zoomed node is shown at once. */
	show(view, zoomed) {
		this.view = view;
		this.zoomed = zoomed;
		this.free = false; // whether the shown range is not that of the zoomed node
		this.from = view.left[zoomed];
		this.span = view.width[zoomed] || 1;
		this.rows = view.deepest + 1 - this.skipped;
		this.most = 0;
		for (let i = 1; view.before && i < view.count; i++)
			this.most = Math.max(this.most, Math.abs(change(view, i)));
		this.ask(true);
	}

	zoom(node) {
		const view = this.view, from = this.from, span = this.span;
		const toSpan = view.width[node] || 1, to = view.left[node];

		this.zoomed = node;
		this.free = false;
		cancelAnimationFrame(this.moving);
		const still = this.printing ||
			matchMedia("(prefers-reduced-motion: reduce)").matches;
		const began = performance.now();
		const step = (now) => {
			const t = still ? 1 : Math.min(1, (now - began) / ZOOM_TIME);
			const eased = 1 - (1 - t) ** 3;

			this.from = from + (to - from) * eased;
			this.span = span + (toSpan - span) * eased;
			if (t < 1)
				this.moving = requestAnimationFrame(step);
			this.draw();
		};

		step(began);
		this.reveal(node);
	}

	/*
	 * Draw for paper with a width in px, or for the screen again (0). On paper, rows without
	 * names are cut.
	 */
	print(width) {
		const { view } = this;

		this.printing = width;
		this.rows = view.deepest + 1;
		if (width) {
			let last = 0;

			for (let node = 0; node < view.count; node++)
				if (view.width[node] * width / this.span >= TEXT_FROM)
					last = Math.max(last, view.depth[node]);
			this.rows = last + 1;
		}
		byId("cut").hidden = this.rows > view.deepest;
		this.resized = true;
		this.draw();
	}

	/* Widen or narrow what is shown by a factor, and move what is at one x (px) to another. */
	scale(x, to, factor) {
		const whole = this.view.width[0], value = this.from + x * this.span / this.wide;

		cancelAnimationFrame(this.moving);
		this.span = Math.min(whole, Math.max(whole * CLOSEST, this.span / factor));
		this.from = Math.max(0, Math.min(whole - this.span,
			value - to * this.span / this.wide));
		this.free = true;
		this.ask();
	}

	/* Draw with the next frame of the screen. */
	ask(resized = false) {
		this.resized ||= resized;
		this.asked ??= requestAnimationFrame(() => this.draw());
	}

	resize() {
		const dots = this.dots = this.printing ? 2 : devicePixelRatio || 1;
		const height = this.rows * ROW + 1;

		this.sheet.style.height = `${height}px`;
		this.wide = this.printing || this.scroller.clientWidth;
		this.high = this.printing ? height : Math.min(height, this.scroller.clientHeight);
		this.canvas.style.height = `${this.high}px`;
		this.canvas.width = Math.round(this.wide * dots);
		this.canvas.height = Math.round(this.high * dots);
		this.resized = false;
	}

	/* Return the top of a row in px below the top of the window. */
	top(depth) {
		return this.row(depth) * ROW - this.scrolled;
	}

	/* Return the number of a row from the top of the sheet. */
	row(depth) {
		const row = depth - this.skipped;

		return this.upward ? this.rows - 1 - row : row;
	}

	draw() {
		cancelAnimationFrame(this.asked);
		this.asked = undefined;
		if (!this.view)
			return;
		if (this.resized || !this.wide)
			this.resize();
		const pen = this.pen, theme = this.palette.theme;

		this.scrolled = this.printing ? 0 : this.scroller.scrollTop;
		pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
		pen.fillStyle = theme.paper;
		pen.fillRect(0, 0, this.wide, this.high);
		pen.font = "12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
		pen.textBaseline = "middle";
		pen.direction = "ltr";
		this.drawn = 0;
		this.drawNodes();
		this.outline(this.pointed, 1);
		this.outline(this.selected, 2);
	}

	drawNodes() {
		const { end, left, width, depth, count } = this.view;
		const pixels = this.wide / this.span, last = this.from + this.span;
		const rows = this.view.deepest + 1;
		// begin and end of the current strip, by depth
		const strips = new Float64Array(2 * rows).fill(-1);

		for (let node = 0; node < count;) {
			const begin = left[node];

			if (begin >= last && node > 0 || begin + width[node] <= this.from) {
				node = end[node];
				continue;
			}
			if (width[node] * pixels < NARROW) {
				this.strip(strips, depth[node], begin, width[node], pixels);
				node = end[node];
				continue;
			}
			if (this.view.folded[node] >= 0)
				this.drawNode(node, begin, pixels);
			node++;
		}
		for (let d = 0; d < rows; d++)
			this.drawStrip(strips, d);
	}

	/* Merge narrow neighbours into one strip. */
	strip(strips, depth, begin, width, pixels) {
		const x = (begin - this.from) * pixels, end = x + width * pixels;

		if (x - strips[2 * depth + 1] > 1) {
			this.drawStrip(strips, depth);
			strips[2 * depth] = x;
		}
		strips[2 * depth + 1] = end;
	}

	drawStrip(strips, depth) {
		const x = strips[2 * depth], end = strips[2 * depth + 1];

		if (end < 0 || end - x < 0.25)
			return;
		this.pen.fillStyle = this.palette.theme.cut;
		this.pen.fillRect(x, this.top(depth), Math.max(0.5, end - x), ROW - 1);
	}

	/* Return whether a node, or a frame of the folded chain that it stands for, matches. */
	matched(node) {
		const { view, matches } = this, last = chainEnd(view, node);

		for (let at = node; matches && at <= last; at++)
			if (matches[view.label[at]])
				return true;
		return false;
	}

	fill(node) {
		const view = this.view, label = view.label[node];

		if (this.matched(node))
			return this.palette.theme.match;
		if (label < 0)
			return this.palette.kind(KIND.group);
		if (view.before) {
			const difference = change(view, node);

			return this.palette.change(difference, strength(difference, this.most));
		}
		const wait = this.palette.modules ? RUNNING : this.waitOf(node);

		if (wait === MIXED)
			return this.palette.kind(KIND.group);
		return wait ? this.palette.wait(wait, label) : this.palette.fill(label);
	}

	/* Return the class of wait whose colour a node has; RUNNING: that of its kind; or MIXED. */
	waitOf(node) {
		const { view, labels } = this;

		if (view.label[node] < 0 || !view.classes.length ||
			labels.kind[view.label[node]] === KIND.group)
			return RUNNING;
		return mainClass(view, node);
	}

	/* Hatch a waiting node where running ones are beside it. */
	hatch(node, x, y, width) {
		const { pen, view, palette } = this;

		if (view.event?.of !== OF.wall || !view.classes.length || this.waitOf(node) <= 0 ||
			this.matched(node))
			return;
		pen.fillStyle = palette.hatch(pen);
		pen.fillRect(x, y, width, ROW - 1);
	}

	/* Show at the bottom of a node how its time divides into classes, if it has several. */
	drawClasses(node, x, y, width) {
		const { pen, view, palette } = this, whole = view.total[WEIGHT][node];
		const times = timesOf(view, node), main = this.waitOf(node);
		const group = view.label[node] < 0 ||
			this.labels.kind[view.label[node]] === KIND.group;
		let at = x;

		if (!whole || !group && largest(times)[1] > PURE * whole)
			return;
		for (const [number, time] of times) {
			const wide = width * time / whole;

			if (number || main || group) {
				pen.fillStyle = number ? palette.wait(number)
					: palette.kind(KIND.native);
				pen.fillRect(at, y + ROW - 1 - STRIPE, wide, STRIPE);
			}
			at += wide;
		}
	}

	drawNode(node, begin, pixels) {
		const pen = this.pen, y = this.top(this.view.depth[node]);

		if (y > this.high || y + ROW < 0 || this.view.depth[node] < this.skipped)
			return;
		const x = Math.max(0, (begin - this.from) * pixels);
		const right = Math.min(this.wide,
			(begin - this.from + this.view.width[node]) * pixels);
		const gap = right - x > 3 ? 0.8 : 0;
		const above = this.view.depth[node] < this.view.depth[this.zoomed];
		const dim = above || this.matches && !this.matched(node);

		pen.globalAlpha = dim ? 0.5 : 1;
		pen.fillStyle = this.fill(node);
		pen.fillRect(x, y, right - x - gap, ROW - 1);
		this.hatch(node, x, y, right - x - gap);
		if (this.view.classes.length && !this.view.before && right - x > STRIPE)
			this.drawClasses(node, x, y, right - x - gap);
		pen.globalAlpha = 1;
		if (right - x >= TEXT_FROM)
			this.writeName(node, x + 4, y + ROW / 2, right - x - 8);
		this.drawn++;
	}

	/* Write a node's name, or the names of its chain: the first and the last if not all fit. */
	writeName(node, x, y, room) {
		const { view, labels, pen } = this;

		if (!view.folded[node])
			return this.write(this.nameOf(node), view.label[node], x, y, room);
		const names = Array.from({ length: view.folded[node] },
			(_, i) => labels.short[view.label[node + i]]);
		const whole = FOLD + names.join(" › ").slice(0, DRAWN);
		const ends = `${FOLD}${names[0]} › … › ${names.at(-1)}`.slice(0, DRAWN);

		return pen.measureText(whole).width <= room ? this.write(whole, NaN, x, y, room)
			: this.write(ends, NaN, x, y, room);
	}

	/* Return whether a place in a node is on the mark that unfolds its chain. */
	onFold(node, x) {
		return node > 0 && this.view.folded[node] > 0 &&
			x - Math.max(0, this.box(node).x) < FOLD_WIDTH;
	}

	nameOf(node) {
		const label = this.view.label[node];

		return label < 0 ? "all" : this.labels.short[label];
	}

	/* Write a name, cut to the available room. maxWidth enforces the room for any font. */
	write(name, label, x, y, room) {
		const pen = this.pen, whole = name.slice(0, DRAWN);
		const wide = label < 0 ? 16 : label >= 0 ? this.widths[label] ??=
			pen.measureText(whole).width : pen.measureText(whole).width;
		let text = whole;

		if (wide > room) {
			let fits = Math.floor(whole.length * room / wide) - 1;

			if (fits > 0 && (whole.charCodeAt(fits - 1) & 0xfc00) === 0xd800)
				fits--;
			if (fits < 2)
				return;
			text = `${whole.slice(0, fits)}…`;
		}
		pen.fillStyle = this.palette.theme.text;
		pen.fillText(text, x, y, room);
	}

	outline(node, thickness) {
		if (!(node > 0) || node >= this.view.count)
			return;
		const { x, y, width } = this.box(node);

		if (x + width < 0 || x > this.wide)
			return;
		const left = Math.max(0, x), right = Math.min(this.wide, x + Math.max(width, 2));

		this.pen.strokeStyle = this.palette.theme.edge;
		this.pen.lineWidth = thickness;
		this.pen.strokeRect(left + thickness / 2, y + thickness / 2,
			Math.max(1, right - left - thickness), ROW - 1 - thickness);
	}

	/*
	 * Return the position of a node in px from the window's corner, also if the node is not
	 * visible.
	 */
	box(node) {
		const pixels = this.wide / this.span, view = this.view;

		return { x: (view.left[node] - this.from) * pixels, y: this.top(view.depth[node]),
			width: view.width[node] * pixels, height: ROW };
	}

	/* Return the node at a position in the window; -1 if there is none. */
	at(x, y) {
		const { end, left, width, depth } = this.view;
		const row = Math.floor((y + this.scrolled) / ROW);
		const wanted = (this.upward ? this.rows - 1 - row : row) + this.skipped;
		const value = this.from + x * this.span / this.wide;
		let node = 0;

		if (row < 0 || row >= this.rows)
			return -1;
		while (depth[node] < wanted) {
			let child = node + 1;

			while (child < end[node] && left[child] + width[child] <= value)
				child = end[child];
			if (child >= end[node] || left[child] > value)
				return -1;
			node = child;
		}
		return node;
	}

	/* Scroll so that a node's row is visible. */
	reveal(node) {
		const top = this.row(this.view.depth[node]) * ROW;
		const high = this.scroller.clientHeight;

		if (top < this.scroller.scrollTop + ROW)
			this.scroller.scrollTop = top - 2 * ROW;
		else if (top + 3 * ROW > this.scroller.scrollTop + high)
			this.scroller.scrollTop = top + 3 * ROW - high;
	}

	/* Scroll to the root, where an upward graph starts. */
	home() {
		this.scroller.classList.toggle("upward", this.upward);
		this.scroller.scrollTop = this.upward ? this.rows * ROW : 0;
	}

	/* Return whether a node is wide enough to be visible now. */
	visible(node) {
		return this.view.width[node] * this.wide / this.span >= NARROW;
	}
}
