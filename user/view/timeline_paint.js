// SPDX-License-Identifier: Apache-2.0
/*
 * Paint lanes into pixels of 32 bits, which takes a hundredth of the time of filled rectangles
 * where neighbours differ. A column has a bar, whose height shows how long the lane was busy, and
 * its ground, which shows what it did else. These hold at every zoom: the lowest pixels have the
 * bar's colour only if the lane was busy at all, the highest only if it was busy throughout.
 */

const FULL_LEVEL = 127;
const SHAPES = { empty: 0, dots: 1, line: 2, solid: 3, hatch: 4 };
const GROUND_MIX = { light: 0.34, dark: 0.4 }; // share of a fill in the paler colour of a ground
const HATCH_MIX = { light: 0.75, dark: 0.9 }; // the same of stripes
const UNKNOWN_FILL = [0, "hatch", "#ff5f5f"]; // of numbers that the server does not name

/* Return a pixel as it stands in memory: red first. */
const pixelOf = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;

/* Return red, green and blue of "#rrggbb"; grey if it is something else. */
function partsOf(colour) {
	const known = /^#[0-9a-f]{6}$/i.test(colour) ? parseInt(colour.slice(1), 16) : 0x808080;

	return [known >> 16, known >> 8 & 255, known & 255];
}

const mixed = (parts, paper, share) =>
	parts.map((part, i) => Math.round(part * share + paper[i] * (1 - share)));

/* The pixels of each fill in a theme. */
class LaneColours {
	/* of: the numbers of some fills, as the trace names them. */
	constructor(fills, theme, of = {}) {
		const paper = partsOf(THEMES[theme].paper);

		this.theme = theme;
		this.of = { counter: of.running, ...of };
		this.paper = pixelOf(paper);
		this.bar = new Uint32Array(256);
		this.upper = new Uint32Array(256); // of the ground, above its lowest pixels
		this.lower = new Uint32Array(256); // of its lowest pixels
		this.stripe = new Uint32Array(256); // of a hatched ground
		this.shape = new Uint8Array(256);
		for (let number = 0; number < 256; number++)
			this.add(number, fills[number] ?? UNKNOWN_FILL, paper);
	}

	add(number, [, shape, colour], paper) {
		const parts = partsOf(colour), { theme } = this;
		const pale = pixelOf(mixed(parts, paper, GROUND_MIX[theme]));

		this.shape[number] = SHAPES[shape] ?? SHAPES.hatch;
		// a bar of no fill is still a bar
		this.bar[number] = pixelOf(shape === "empty" ? [128, 128, 128] : parts);
		this.upper[number] = shape === "solid" ? pale : this.paper;
		this.lower[number] = shape === "empty" ? this.paper : pale;
		this.stripe[number] = pixelOf(mixed(parts, paper, HATCH_MIX[theme]));
	}
}

/* Return the height of a bar, so that what is partly busy always has a bar and a ground. */
function barHeight(level, high, least) {
	if (!level)
		return 0;
	if (level >= FULL_LEVEL)
		return high;
	return Math.min(high - least, Math.max(least, Math.round(level * high / FULL_LEVEL)));
}

/*
 * Paints one lane at a time. From the lowest row of pixels to the highest, each row is a copy of
 * the one below it but for the columns that change there; so a column costs a few writes, whatever
 * its height.
 */
class LanePainter {
	/* columns: of every lane; dots: device pixels in a px. */
	constructor(columns, dots, colours) {
		this.columns = columns;
		this.colours = colours;
		this.least = Math.max(1, Math.round(dots));
		this.next = new Int32Array(columns); // the next column that changes in the same row
		this.hatched = new Int32Array(columns);
		this.used = new Uint8Array(256); // by fill: 1 where the fill was painted
		this.images = new Map(); // by height
	}

	image(high) {
		let image = this.images.get(high);

		if (!image) {
			const data = new ImageData(this.columns, high);

			image = { data, pixels: new Uint32Array(data.data.buffer),
				first: new Int32Array(high + 1), // the first column that changes
				heights: Uint16Array.from({ length: 256 }, (_, level) =>
					barHeight(level, high, this.least)) };
			this.images.set(high, image);
		}
		return image;
	}

	/* Return the picture of a lane; it is valid until the next lane of this height. */
	paint(strokes, high) {
		const image = this.image(high), { pixels, first } = image, { columns } = this;

		this.hatches = 0;
		this.lowest(strokes, image, high);
		for (let row = 0; row < high; row++) {
			const at = (high - 1 - row) * columns;

			if (row)
				pixels.copyWithin(at, at + columns, at + 2 * columns);
			for (let x = first[row]; x >= 0; x = this.next[x])
				this.change(strokes, pixels, at, x);
			this.hatch(strokes, pixels, at, row);
		}
		return image.data;
	}

	/* Paint the lowest row, and note for each column in which row its ground begins. */
	lowest(strokes, { pixels, first, heights }, high) {
		const { columns, least, next, used, colours: { bar } } = this;
		const at = (high - 1) * columns;

		first.fill(-1);
		for (let x = 0, i = 0; x < columns; x++, i += STROKE_SIZE) {
			const height = heights[strokes[i]];

			if (height) {
				pixels[at + x] = bar[strokes[i + 1]];
				used[strokes[i + 1]] = 1;
			} else {
				this.rest(pixels, at, x, strokes[i + 2]);
			}
			if (height === high)
				continue;
			used[strokes[i + 2]] = 1;
			next[x] = first[height || least];
			first[height || least] = x;
		}
	}

	/* Paint the lowest pixel of a column without a bar. */
	rest(pixels, at, x, ground) {
		const { least, colours: { shape, lower, paper } } = this, dash = 4 * least;

		pixels[at + x] = shape[ground] === SHAPES.dots && x % dash >= dash / 2 ? paper
			: lower[ground];
		if (shape[ground] === SHAPES.hatch)
			this.hatched[this.hatches++] = x;
	}

	/* From this row on, a column shows its ground. */
	change(strokes, pixels, at, x) {
		const ground = strokes[x * STROKE_SIZE + 2];

		if (this.colours.shape[ground] !== SHAPES.hatch)
			pixels[at + x] = this.colours.upper[ground];
		else if (strokes[x * STROKE_SIZE]) // others are hatched from the lowest row on
			this.hatched[this.hatches++] = x;
	}

	/* Paint the stripes of one row. */
	hatch(strokes, pixels, at, row) {
		const { hatched, hatches, least, colours: { stripe, upper } } = this;
		const period = 6 * least, thick = 2 * least;

		for (let i = 0; i < hatches; i++) {
			const x = hatched[i], ground = strokes[x * STROKE_SIZE + 2];

			pixels[at + x] = (x + row) % period < thick ? stripe[ground]
				: upper[ground];
		}
	}
}

const POOLED = 2; // canvases that wait for another layer
const canvases = [];

/*
 * Return a canvas of at least a size: one that is left over, or a new one. To make one takes longer
 * than to paint it.
 */
function takeCanvas(wide, high) {
	const fits = ({ width, height }) => width >= wide && height >= high &&
		width * height <= 3 * wide * high;
	const at = canvases.findIndex(fits);

	if (at >= 0)
		return canvases.splice(at, 1)[0];
	const made = document.createElement("canvas");

	made.width = wide;
	made.height = high;
	return made;
}

/* Keep a canvas for another layer; free the pixels of the oldest at once if there are many. */
function giveCanvas(canvas) {
	canvases.push(canvas);
	if (canvases.length > POOLED) {
		const oldest = canvases.shift();

		oldest.width = oldest.height = 0;
	}
}

/* The picture of some lanes in a part of the time, one column a device pixel. */
class LaneLayer {
	/*
	 * answer: from readStrokes(), which has CounterColumns for counters; wish: what was
	 * asked for.
	 */
	constructor({ from, to }, { columns, strokes }) {
		this.from = from;
		this.to = to;
		this.columns = columns;
		this.strokes = strokes;
		this.each = (to - from) / columns; // ns of a column
		this.tops = new Map(); // device pixels, by lane
	}

	/* Paint all lanes as high as rows (LaneRows) has them. */
	paint(rows, colours) {
		const painter = new LanePainter(this.columns, rows.dots, colours);
		const counters = new CounterPainter(this.columns, rows.dots, colours);
		let high = 0;

		for (const lane of this.strokes.keys()) {
			this.tops.set(lane, high);
			high += rows.barOf(lane) + rows.gap;
		}
		this.drop();
		this.canvas = takeCanvas(this.columns, high);
		this.pen = this.canvas.getContext("2d", { alpha: false });
		this.pen.fillStyle = THEMES[colours.theme].paper;
		this.pen.fillRect(0, 0, this.columns, high);
		for (const [lane, strokes] of this.strokes)
			this.pen.putImageData(strokes instanceof CounterColumns
				? counters.paint(strokes, rows.barOf(lane), rows.counterOf(lane))
				: painter.paint(strokes, rows.barOf(lane)), 0,
			this.tops.get(lane));
		this.dots = rows.dots;
		this.used = painter.used;
	}

	has(lane) {
		return this.strokes.has(lane);
	}

	covers({ from, to }) {
		return this.from <= from && this.to >= to;
	}

	/* Give the pixels back. */
	drop() {
		if (this.canvas)
			giveCanvas(this.canvas);
		this.canvas = null;
	}
}
