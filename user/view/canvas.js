// SPDX-License-Identifier: Apache-2.0
/*
 * Draw the flame graph. Only visible parts are drawn: rows within the window, and the children of
 * a node that are at least NARROW px wide; narrower neighbours are drawn as one thin strip, so
 * that no time seems to be missing. Boxes are painted by paint.js into a picture, above which
 * stand the outlines of what is pointed at and selected.
 */

const ROW = 20; // px, including the gap
const NARROW = 0.7; // px; narrower nodes are not drawn individually
const TEXT_FROM = 26; // px; wider nodes show a name
const ZOOM_TIME = 160; // ms
const STRIPE = 4; // px: height of the times by class of wait
const PURE = 0.995; // from this share on, all time of a frame counts as of one class
const HATCH_FROM = 2; // px; wider nodes that wait are hatched
const FOLD = "▸ "; // before the names of a folded chain
const FOLD_WIDTH = 18; // px: where a click unfolds
const CLOSEST = 1e-5; // least part of the whole that a pinch shows
const CUT_FROM = 8; // characters; fewer have no room for both ends of a name
const WIDTHS_KEPT = 100000; // texts whose widths are remembered

const isHighSurrogate = (text, at) => (text.charCodeAt(at) & 0xfc00) === 0xd800;

/*
 * Cut a text in its middle, as name_fit() in user/base/name.c does, so that the namespace and the
 * function's own name remain; "" if there is room for nothing.
 */
function cutMiddle(text, size) {
	const head = size < CUT_FROM ? size - 1 : Math.floor(size * 2 / 3) - 1;
	const front = head > 0 && isHighSurrogate(text, head - 1) ? head - 1 : head;
	let back = size < CUT_FROM ? text.length : text.length - (size - head - 1);

	if (size < 3)
		return "";
	if (back > 0 && isHighSurrogate(text, back - 1))
		back++;
	return `${text.slice(0, front)}…${text.slice(back)}`;
}

class Graph {
	/* host: the element with the canvas; skipped: rows at the root that are not drawn. */
	constructor(host, skipped = 0) {
		const canvas = this.canvas = host.querySelector("canvas");

		this.sheet = host.querySelector(".sheet");
		this.skipped = skipped;
		this.pen = canvas.getContext("2d", { alpha: false });
		this.scroller = host.querySelector(".scroll");
		this.painter = new Painter();
		this.widths = new Map(); // px, by text
		this.letters = new Map(); // px, by character
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

	/* Use labels and colours for the next tree. */
	take(labels, palette) {
		this.labels = labels;
		this.palette = palette;
		this.view = undefined;
	}

	/* Show another tree. The range of the zoomed node is shown at once. */
	show(view, zoomed) {
		this.view = view;
		this.zoomed = zoomed;
		this.free = false; // whether the shown range is not that of the zoomed node
		this.from = view.left[zoomed];
		this.span = view.width[zoomed] || 1;
		this.rows = view.deepest + 1 - this.skipped;
		this.chains = new Map();
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
		this.stale = true;
		this.askFrame();
	}

	/* Point at a node; its outline needs no new picture. */
	point(node) {
		if (node === this.pointed)
			return;
		this.pointed = node;
		this.askFrame();
	}

	askFrame() {
		this.asked ??= requestAnimationFrame(() => {
			this.asked = undefined;
			if (this.stale)
				this.draw();
			else
				this.outlines();
		});
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
		if (!this.wide || !this.high) // it is hidden
			return;
		this.scrolled = this.printing ? 0 : this.scroller.scrollTop;
		this.stale = false;
		const waits = this.view.event?.of === OF.wall && this.view.classes.length > 0;
		const found = this.painter.paint(this, waits ? HATCH_FROM : TEXT_FROM);

		this.drawn = this.painter.drawn;
		this.writeNames(found, waits);
		this.outlines();
	}

	/* Copy the picture, and outline what is pointed at and what is selected. */
	outlines() {
		const { pen, painter, dots } = this;

		if (!this.wide || !this.high)
			return;
		pen.setTransform(1, 0, 0, 1, 0, 0);
		pen.drawImage(painter.picture, 0, 0);
		pen.setTransform(dots, 0, 0, dots, 0, 0);
		this.outline(this.pointed, 1);
		this.outline(this.selected, 2);
	}

	/* Hatch waiting boxes where running ones are beside them, and write the names of boxes. */
	writeNames(found, waits) {
		const { pen } = this.painter, { theme } = this.palette;

		pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
		pen.font = "12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
		pen.textBaseline = "middle";
		pen.direction = "ltr";
		if (waits) {
			pen.fillStyle = this.palette.hatch(pen);
			for (const { node, x, right, y } of found)
				if (this.waitOf(node) > 0 && !this.matched(node))
					pen.fillRect(x, y, right - x - 0.8, ROW - 1);
		}
		pen.fillStyle = theme.text;
		for (const { node, x, right, y } of found)
			if (right - x >= TEXT_FROM)
				this.write(this.formsOf(node), x + 4, y + ROW / 2, right - x - 8);
	}

	/* Return whether a node is paler than others: above the zoomed one, or no match. */
	isDim(node) {
		const { view: { depth }, zoomed } = this;

		return depth[node] < depth[zoomed] || this.matches && !this.matched(node);
	}

	isGroup(node) {
		const label = this.view.label[node];

		return label < 0 || this.labels.kind[label] === KIND.group;
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
		return !this.view.classes.length || this.isGroup(node) ? RUNNING
			: mainClass(this.view, node);
	}

	/*
	 * Return the texts for a node, the longest first: forms of its name, or the names of its
	 * chain, all of them, or the first and the last.
	 */
	formsOf(node) {
		const { view, labels, chains } = this, length = view.folded[node];

		if (!length)
			return view.label[node] < 0 ? ["all"] : labels.forms[view.label[node]];
		if (!chains.has(node)) {
			const names = Array.from({ length },
				(_, i) => labels.forms[view.label[node + i]][0]);
			const ends = `${FOLD}${names[0]} › … › ${names.at(-1)}`;

			chains.set(node, [FOLD + names.join(" › "), ends]
				.map((text) => text.slice(0, DRAWN)));
		}
		return chains.get(node);
	}

	/* Return whether a place in a node is on the mark that unfolds its chain. */
	onFold(node, x) {
		return node > 0 && this.view.folded[node] > 0 &&
			x - Math.max(0, this.box(node).x) < FOLD_WIDTH;
	}

	/* Return the width of a text, without kerning, as the sum of those of its characters. */
	sumWidths(text) {
		const { letters, painter: { pen } } = this;
		let sum = 0;

		for (const letter of text) {
			let width = letters.get(letter);

			if (width === undefined)
				letters.set(letter, width = pen.measureText(letter).width);
			sum += width;
		}
		return sum;
	}

	/* Like sumWidths() for a text that is written often. */
	widthOf(text) {
		let width = this.widths.get(text);

		if (width === undefined) {
			if (this.widths.size >= WIDTHS_KEPT)
				this.widths.clear();
			this.widths.set(text, width = this.sumWidths(text));
		}
		return width;
	}

	/*
	 * Write the longest form that fits, or the last one, cut to the room. The width is not left
	 * to fillText(), which takes much longer with a limit.
	 */
	write(forms, x, y, room) {
		const { pen } = this.painter, last = forms.at(-1);

		for (const form of forms)
			if (this.widthOf(form) <= room)
				return pen.fillText(form, x, y);
		let size = Math.floor(last.length * room / this.widthOf(last)) + 1, text;

		do
			text = cutMiddle(last, size--);
		while (text && this.sumWidths(text) > room);
		return text && pen.fillText(text, x, y);
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
