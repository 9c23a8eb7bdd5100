// SPDX-License-Identifier: Apache-2.0
/*
 * Paint the boxes of a flame graph as pixels: a line of pixels for each row, which is copied for
 * each pixel of the row's height. So the time of a picture depends on its size, and hardly on the
 * number of boxes, of which a line may have thousands.
 */

/* One line of pixels for each row. */
class Lines {
	/* Begin with lines of one colour. */
	begin(width, count, pixel) {
		if (this.pixels?.length !== width * count)
			this.pixels = new Uint32Array(width * count);
		this.width = width;
		this.used = false;
		this.pixels.fill(pixel);
	}

	/* Colour pixels of a line from one x to another, both in the line and whole numbers. */
	put(line, from, to, pixel) {
		this.used = true;
		this.pixels.fill(pixel, line * this.width + from, line * this.width + to);
	}

	line(number) {
		return this.pixels.subarray(number * this.width, (number + 1) * this.width);
	}
}

const BLANK = 0; // a pixel that covers nothing

/* Return red, green and blue of "#rrggbb" or of "hsl(hue saturation% lightness%)", 0 to 255. */
function colourParts(text) {
	if (text.startsWith("#"))
		return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
	const [hue, saturation, lightness] = text.match(/[\d.]+/g).map(Number);
	const l = lightness / 100, most = saturation / 100 * Math.min(l, 1 - l);

	return [0, 8, 4].map((turn) => {
		const k = (turn + hue / 30) % 12;

		return Math.round(255 * (l - most * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	});
}

/* Colours as pixels: bytes of red, green, blue and alpha, the first the lowest. */
class Pixels {
	constructor() {
		this.known = new Map();
		this.dimmed = new Map();
	}

	of(colour) {
		let pixel = this.known.get(colour);

		if (pixel === undefined) {
			const [red, green, blue] = colourParts(colour);

			pixel = (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
			this.known.set(colour, pixel);
		}
		return pixel;
	}

	/* Return a colour of which half is that of the paper. */
	dim(colour, paper) {
		const key = `${colour} ${paper}`;
		let pixel = this.dimmed.get(key);

		if (pixel === undefined) {
			const half = (a, b) => (a >>> 1 & 0x7f7f7f) + (b >>> 1 & 0x7f7f7f);

			pixel = (255 << 24 | half(this.of(colour), this.of(paper))) >>> 0;
			this.dimmed.set(key, pixel);
		}
		return pixel;
	}
}

const PIXELS = new Pixels(); // the same for every graph

/*
 * Paint the boxes of a graph into a picture: wide ones one by one, narrow neighbours as one strip.
 * Names and hatching are drawn above by the graph, for which the wide boxes are listed.
 */
class Painter {
	constructor() {
		this.boxes = new Lines();
		this.stripes = new Lines(); // times by class of wait, at the bottom of boxes
		this.picture = document.createElement("canvas");
		this.pen = this.picture.getContext("2d", { alpha: false });
	}

	/* Paint what a graph shows; return the visible boxes that are at least `listed` px wide. */
	paint(graph, listed) {
		const { width, height } = graph.canvas, { theme } = graph.palette;

		if (this.image?.width !== width || this.image.height !== height) {
			this.picture.width = width;
			this.picture.height = height;
			this.image = this.pen.createImageData(width, height);
			this.pixels = new Uint32Array(this.image.data.buffer);
		}
		this.graph = graph;
		this.first = Math.floor(graph.scrolled / ROW);
		this.count = Math.ceil(graph.high / ROW) + 1;
		this.width = width;
		this.listed = listed;
		this.found = [];
		this.drawn = 0;
		this.boxes.begin(width, this.count, PIXELS.of(theme.paper));
		this.stripes.begin(width, this.count, BLANK);
		// begin and end of the current strip of narrow boxes, by line
		this.strips = new Float64Array(2 * this.count).fill(-1);
		this.walk();
		for (let line = 0; line < this.count; line++)
			this.putStrip(line);
		this.compose();
		return this.found;
	}

	/* Return the line of a depth; outside of the window it is below 0 or too large. */
	lineOf(depth) {
		return this.graph.row(depth) - this.first;
	}

	/*
	 * Visit the nodes that are in the window and wide enough, and what is narrow beside them.
	 * Siblings stand from left to right, so that all after one beyond the window are, too; if
	 * they are sorted by width, all after a narrow one are narrow.
	 */
	walk() {
		const { graph, graph: { view, from, span, wide } } = this;
		const { end, left, width, depth, parent, inner, count, folded, sorted } = view;
		const pixels = wide / span, last = from + span;
		const deeper = graph.upward ? -1 : 1; // in lines

		for (let node = 0; node < count;) {
			const begin = left[node], line = this.lineOf(depth[node]);
			const beyond = deeper > 0 ? line >= this.count : line < 0;

			if (begin >= last && node > 0) {
				node = end[parent[node]];
			} else if (beyond || begin + width[node] <= from) {
				node = end[node];
			} else if (width[node] * pixels < NARROW) {
				const rest = sorted && node > 0;

				this.strip(line, begin, rest ? inner[parent[node]] - begin
					: width[node], pixels);
				node = end[rest ? parent[node] : node];
			} else {
				if (folded[node] >= 0)
					this.box(node, line, pixels);
				node++;
			}
		}
	}

	/* Merge narrow neighbours into one strip. */
	strip(line, begin, width, pixels) {
		if (line < 0 || line >= this.count)
			return;
		const x = (begin - this.graph.from) * pixels, end = x + width * pixels;

		if (x - this.strips[2 * line + 1] > 1) {
			this.putStrip(line);
			this.strips[2 * line] = x;
		}
		this.strips[2 * line + 1] = end;
	}

	putStrip(line) {
		const { graph: { dots, palette } } = this;
		const x = this.strips[2 * line], end = this.strips[2 * line + 1];

		if (end < 0 || end - x < 0.25)
			return;
		const from = Math.max(0, Math.round(x * dots));

		this.boxes.put(line, Math.min(from, this.width),
			Math.min(this.width, Math.max(from + 1, Math.round(end * dots))),
			PIXELS.of(palette.theme.cut));
	}

	box(node, line, pixels) {
		const { graph, graph: { view, dots } } = this;

		if (line < 0 || line >= this.count || view.depth[node] < graph.skipped)
			return;
		const begin = (view.left[node] - graph.from) * pixels;
		const x = Math.max(0, begin);
		const right = Math.min(graph.wide, begin + view.width[node] * pixels);
		const from = Math.min(this.width - 1, Math.round(x * dots));
		const gap = right - x > 3 ? Math.max(1, Math.round(0.8 * dots)) : 0;
		const to = Math.min(this.width, Math.max(from + 1, Math.round(right * dots) - gap));
		const fill = graph.fill(node);

		this.boxes.put(line, from, to, graph.isDim(node)
			? PIXELS.dim(fill, graph.palette.theme.paper) : PIXELS.of(fill));
		if (view.classes.length && !view.before && right - x > STRIPE)
			this.stripe(node, line, from, to);
		if (right - x >= this.listed)
			this.found.push({ node, x, right, y: graph.top(view.depth[node]) });
		this.drawn++;
	}

	/* Show at the bottom of a box how its time divides into classes, if it has several. */
	stripe(node, line, from, to) {
		const { graph, graph: { view, palette } } = this, whole = view.total[WEIGHT][node];
		const times = timesOf(view, node), main = graph.waitOf(node);
		const group = graph.isGroup(node);
		let at = 0;

		if (!whole || !group && largest(times)[1] > PURE * whole)
			return;
		for (const [number, time] of times) {
			const next = at + time / whole;

			if (number || main || group)
				this.stripes.put(line, from + Math.round(at * (to - from)),
					from + Math.round(next * (to - from)),
					PIXELS.of(number ? palette.wait(number)
						: palette.kind(KIND.native)));
			at = next;
		}
	}

	/* Copy the lines into the picture. */
	compose() {
		const { graph: { dots, scrolled, palette }, boxes, stripes, picture } = this;
		const paper = PIXELS.of(palette.theme.paper), { pixels } = this;
		const pixel = (y) => Math.min(picture.height, Math.max(0, Math.round(y * dots)));

		pixels.fill(paper);
		for (let line = 0; line < this.count; line++) {
			const y = (this.first + line) * ROW - scrolled, bottom = pixel(y + ROW - 1);
			const stripe = stripes.used ? pixel(y + ROW - 1 - STRIPE) : bottom;
			const row = boxes.line(line);

			for (let at = pixel(y); at < stripe; at++)
				pixels.set(row, at * this.width);
			if (stripe < bottom)
				stripes.line(line).forEach((colour, x) => {
					row[x] = colour === BLANK ? row[x] : colour;
				});
			for (let at = stripe; at < bottom; at++)
				pixels.set(row, at * this.width);
		}
		this.pen.putImageData(this.image, 0, 0);
	}
}
