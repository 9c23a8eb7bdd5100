// SPDX-License-Identifier: Apache-2.0
/* Choose colours for kinds and changes. Every fill is light or dark enough for its text. */

/*
 * For each kind: name, hue, saturation, and the largest distance of a function's hue from the
 * hue.
 */
const KINDS = {
	[KIND.native]: { name: "Native", hue: 34, saturation: 92, spread: 13 },
	[KIND.kernel]: { name: "Kernel", hue: 212, saturation: 72, spread: 11 },
	[KIND.python]: { name: "Python", hue: 158, saturation: 52, spread: 12 },
	[KIND.java]: { name: "Java", hue: 100, saturation: 50, spread: 10 },
	[KIND.jit]: { name: "JIT", hue: 282, saturation: 58, spread: 12 },
	[KIND.mark]: { name: "Truncated", hue: 0, saturation: 0, spread: 0 },
	[KIND.none]: { name: "Other", hue: 0, saturation: 12, spread: 0 },
	[KIND.group]: { name: "Group", hue: 228, saturation: 14, spread: 0 },
};

const THEMES = {
	light: { lightness: 74, group: 84, text: "#1c1a17", faint: "#8a8580", paper: "#ffffff",
		match: "hsl(312 88% 72%)", edge: "#111827", cut: "hsl(30 10% 80%)", factor: 1,
		hatch: "rgb(255 255 255 / .38)" },
	dark: { lightness: 37, group: 29, text: "#ffffff", faint: "#8f8a86", paper: "#17181c",
		match: "hsl(312 62% 46%)", edge: "#ffffff", cut: "hsl(30 4% 32%)", factor: 0.68,
		hatch: "rgb(0 0 0 / .2)" },
};

const TURN = 137.5; // degrees: the golden angle, so that modules of near numbers differ

const hsl = (hue, saturation, lightness) =>
	`hsl(${hue.toFixed(0)} ${saturation.toFixed(0)}% ${lightness.toFixed(0)}%)`;

class Palette {
	constructor(labels, waits) {
		this.labels = labels;
		this.waits = waits; // by class, from the data
		this.set("light");
	}

	set(theme) {
		this.name = theme;
		this.theme = THEMES[theme];
		this.fills = [];
		this.waitFills = [];
		this.hatching = null;
	}

	/* Choose what colours of functions show: kinds of code, or modules, by number in a list. */
	by(modules) {
		if (this.modules !== modules)
			this.fills = [];
		this.modules = modules;
	}

	/* Return the colour of a module by its number; those after the list are all grey. */
	module(number) {
		const { theme } = this;

		return hsl(number * TURN % 360, number < 0 ? 0 : 62 * theme.factor,
			theme.lightness);
	}

	/*
	 * Choose the colour of a function: similar within a module, different between neighbours.
	 */
	make(label) {
		const kind = this.labels.kind[label], of = KINDS[kind];

		if (this.modules && kind !== KIND.group)
			return this.module(this.modules.indexOf(this.labels.shortModule(label)));
		const seed = parseInt(shortHash(this.labels.name[label]), 36);
		const module = parseInt(shortHash(this.labels.module[label]), 36);
		const off = ((module % 64) / 32 - 1) * 0.7 + ((seed % 32) / 16 - 1) * 0.3;
		const lightness = kind === KIND.group ? this.theme.group
			: this.theme.lightness +
				((seed >>> 8) % 9 - 4) * (this.name === "light" ? 1.1 : 0.7);

		return hsl(of.hue + of.spread * off, of.saturation * this.theme.factor, lightness);
	}

	fill(label) {
		return this.fills[label] ??= this.make(label);
	}

	/* Return the colour of a class of wait; functions differ a little in lightness. */
	wait(number, label = -1) {
		const key = (label + 1) * this.waits.length + number;

		return this.waitFills[key] ??= this.makeWait(number, label);
	}

	/* Return a pattern of faint stripes, which show what waits beside what runs. */
	hatch(pen) {
		if (this.hatching)
			return this.hatching;
		const tile = document.createElement("canvas"), side = tile.width = tile.height = 8;
		const brush = tile.getContext("2d");

		brush.strokeStyle = this.theme.hatch;
		brush.lineWidth = 2;
		for (const shift of [-side, 0, side]) {
			brush.moveTo(shift, side);
			brush.lineTo(shift + side, 0);
		}
		brush.stroke();
		return this.hatching = pen.createPattern(tile, "repeat");
	}

	makeWait(number, label) {
		const { hue, saturation } = this.waits[number];
		const seed = label < 0 ? 4
			: (parseInt(shortHash(this.labels.name[label]), 36) >>> 8) % 9;

		return hsl(hue, saturation * this.theme.factor,
			this.theme.lightness + (seed - 4) * (this.name === "light" ? 1.1 : 0.7));
	}

	/* Return the colour of a kind in the legend. */
	kind(kind) {
		const { hue, saturation } = KINDS[kind], { theme } = this;

		return hsl(hue, saturation * theme.factor,
			kind === KIND.group ? theme.group : theme.lightness);
	}

	/* Return the colour of a change: red for growth, blue for shrinking; strength is 0 to 1. */
	change(difference, strength) {
		const hue = difference > 0 ? 4 : 214, pale = this.name === "light" ? 93 : 27;
		const strong = this.name === "light" ? 66 : 43;

		if (strength < 0.02)
			return hsl(40, 6, pale);
		return hsl(hue, (40 + 45 * strength) * this.theme.factor,
			pale + (strong - pale) * strength);
	}
}

/* Return the strength of the colour for a change of share; `most` is the largest change. */
const strength = (difference, most) =>
	most > 0 ? Math.sqrt(Math.min(1, Math.abs(difference) / most)) : 0;
