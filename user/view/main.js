// SPDX-License-Identifier: Apache-2.0
/* The page: its parts and its reactions to input. */

const WIDTHS = [["", "width: time"], ["samples", "width: samples"]];
const WIDTHS_OF_CHANGE = [["", "width: after"], ["before", "width: before"],
	["both", "width: both"]];
const ORDERS = [["weight", "widest first"], ["name", "by name"]];
const COLOURS = [["", "colour: kind"], ["module", "colour: module"]];
const PAPER = 1400; // px: the width on paper, at which a name of 12 px is readable
const LEAST = 3; // least width of a selected frame in px, if zooming can provide it
const THEME_KEY = "skein-theme";

const DARK = matchMedia("(prefers-color-scheme: dark)");

/* Return the parts of a state that need a new tree when they change. */
const treeKey = (s) =>
	[s.event, s.split, s.width, s.order, s.inverted && !s.sandwich, s.unfolded, s.hidden,
		s.waits, s.nogc].join();
/* Return whether changes leave the paths of frames as they are, so that the zoom can stay. */
const keepsPaths = (changes) => Object.keys(changes).every((key) =>
	["event", "waits", "nogc", "width", "order", "unfolded", "colour"].includes(key));

class Page {
	constructor() {
		this.graph = new Graph(byId("graph"));
		this.sandwich = new Sandwich(this);
		this.touch = new Touch(this);
		const raw = takeData();

		// the address loses its token before anything else reads it
		this.feed = raw.feed ? new PairFeed()
			: raw.timeline?.states ? new StaticFeed(raw.timeline, takeColumns) : null;
		this.take(raw.feed ? dataWithoutSamples({}, null, "Loading …") : readRaw(raw));
		if (raw.feed) {
			byId("compare").hidden = true;
		} else {
			this.comparer = new Comparer(this);
			showNoTimeline(raw.timeline);
		}
		if (this.feed && !raw.feed)
			this.feed.loaded = this.data;
		this.timeline = this.feed && new Timeline(this);
		this.history = new History((text) => parseState(text, this.possible),
			(state) => this.show(state));
		this.listen();
		this.chooseTheme(this.storedTheme());
		this.show(this.history.state);
		this.timeline?.begin();
	}

	/* Make from data all that belongs to them; show() then shows them. */
	take(data) {
		this.data = data;
		this.views = new Views(data);
		this.labels = data.labels;
		this.palette = new Palette(data.labels, data.waits);
		for (const graph of [this.graph, this.sandwich.callers, this.sandwich.callees])
			graph.take(data.labels, this.palette);
		this.panes = new Panes(this);
		this.legend = new Legend(this);
		this.waits = new WaitLegend(this);
		this.modes = new Modes(this);
		this.table = new Table(this);
		this.widths = data.before ? WIDTHS_OF_CHANGE : WIDTHS;
		this.fillControls();
		this.possible = {
			events: this.feed instanceof Feed ? null
				: this.views.events.map(({ name }) => name),
			// a page of two traces has one of them, or what changed between them
			widths: (this.feed instanceof Feed ? [...WIDTHS, ...WIDTHS_OF_CHANGE]
				: this.widths).map(([key]) => key) };
		this.key = undefined; // of the shown tree
	}

	/* Show other data instead, with nothing selected, hidden or searched for. */
	use(data) {
		const theme = this.palette.name;

		this.timeline?.yield(Boolean(data.before));
		this.take(data);
		this.palette.set(theme);
		this.history.reset();
	}

	/* Show other data of the same recording, as far as the state has something in them. */
	renew(data) {
		const theme = this.palette.name;

		this.take({ ...data, served: true });
		this.palette.set(theme);
		this.show(this.state);
	}

	get state() {
		return this.history.state;
	}

	fillControls() {
		const fill = (id, pairs) => byId(id).replaceChildren(
			...pairs.map(([value, text]) => element("option", { value, text })));

		const waits = this.views.events.some((event) =>
			this.views.classesOf(event).list.length);

		fill("event", this.views.events.map(({ name }) => [name, name]));
		fill("split", Object.entries(SPLITS).filter(([key]) => key !== "wait" || waits));
		fill("width", this.widths);
		fill("order", ORDERS);
		fill("colour", COLOURS);
		byId("event-label").hidden = this.modes.cover(this.views.events);
	}

	/* Show a state, as far as the data have what it wants. */
	show(state) {
		const width = this.widths.some(([key]) => key === state.width) ? state.width : "";

		this.showState({ ...state, width });
		if (!this.data.before || this.data.served)
			this.timeline?.show(state);
	}

	/* Show a state but for the timeline: a new tree if needed, then the rest. */
	showState(state) {
		const key = treeKey(state), fresh = key !== this.key;

		if (fresh) {
			this.view = this.views.view(state);
			this.key = key;
			showHead(this.data, this.view);
			showWarning(this.data, this.view);
		}
		const modules = state.colour ? this.legend.modules() : null;
		const recoloured = this.palette.modules !== modules;

		this.palette.by(modules);
		const zoomed = nodeAt(this.view, this.labels, state.zoom);
		const { graph } = this, turned = graph.upward !== state.upward;

		graph.upward = state.upward;
		graph.selected = nodeAt(this.view, this.labels, state.select);
		graph.pointed = 0;
		this.showSearch(state, zoomed);
		if (fresh || turned)
			graph.show(this.view, zoomed);
		else if (zoomed !== graph.zoomed)
			graph.zoom(zoomed);
		else
			graph.ask();
		if (fresh || turned)
			graph.home();
		if (fresh || recoloured) {
			this.modes.show(this.view.event);
			this.legend.show(state);
			this.waits.show(state);
		}
		this.showControls(state);
		this.showTrail();
		this.panes.hideTip();
		this.panes.show(graph.selected);
		this.showBody(state);
	}

	showBody(state) {
		const empty = this.view.count < 2, middle = this.sandwich.labelOf(state.sandwich);
		const graph = !state.table && middle < 0;
		const hidden = empty && state.waits && this.view.classes.length;

		byId("empty").hidden = !empty;
		byId("empty").replaceChildren(...hidden
			? ["All classes of wait are hidden: choose one above."]
			: emptyParts(this.data));
		byId("graph").hidden = !graph || empty;
		byId("table").hidden = graph || middle >= 0 || empty;
		byId("sandwich").hidden = middle < 0 || empty;
		byId("details").hidden = empty || middle >= 0 || this.graph.selected <= 0;
		byId("legend").hidden = empty;
		byId("legends").hidden = empty && !hidden;
		byId("tools").hidden = empty && !hidden;
		byId("trail").hidden ||= middle >= 0;
		if (middle >= 0 && !empty)
			this.sandwich.show(middle);
		else if (state.table && !empty)
			this.table.show();
	}

	showControls(state) {
		const set = (id, on) => byId(id).setAttribute("aria-pressed", String(on));

		byId("colour").hidden = this.view.before;
		for (const id of ["split", "width", "order", "colour"])
			byId(id).value = String(state[id]);
		byId("event").value = this.view.event?.name ?? "";
		set("inverted", state.inverted);
		set("upward", state.upward);
		set("unfolded", state.unfolded);
		set("nogc", state.nogc);
		byId("nogc").hidden = !this.data.sides.some(({ sums }) => sums.collecting);
		byId("unfolded").disabled = !state.unfolded && !this.view.folded.some(Boolean);
		set("as-graph", !state.table && !state.sandwich);
		set("as-table", state.table && !state.sandwich);
		set("as-sandwich", Boolean(state.sandwich));
		for (const id of ["inverted", "upward", "unfolded"])
			byId(id).hidden = Boolean(state.sandwich);
		if (document.activeElement !== byId("search"))
			byId("search").value = state.search;
		byId("canvas").setAttribute("aria-label",
			`Flame graph of ${samplesText(this.view.whole[COUNT], this.view.event)}; ` +
				"arrow keys move, Enter zooms. The same as a table: t");
	}

	showTrail() {
		const { view, graph } = this, path = [];

		for (let node = graph.zoomed; node > 0; node = view.parent[node])
			path.unshift(node);
		byId("trail").hidden = !path.length && !graph.free;
		byId("path").replaceChildren(...(path.length ? [0, ...path] : []).map((node) =>
			element("button", { type: "button", class: "name",
				onclick: () => this.zoomTo(node),
				"aria-current": node === graph.zoomed && "true",
				text: this.panes.name(view.label[node]) })));
		byId("path").scrollLeft = byId("path").scrollWidth;
	}

	showSearch(state, zoomed) {
		const { graph, view } = this, input = byId("search");
		const matches = state.search ? searchLabels(this.labels, state.search) : null;

		input.setAttribute("aria-invalid", String(Boolean(state.search && !matches)));
		graph.matches = matches;
		this.matched = matches ? matchingNodes(view, matches, zoomed) : [];
		this.found = matches ? matchesByWidth(view, matches, zoomed) : [];
		byId("previous").disabled = byId("next").disabled = !this.found.length;
		byId("matched").textContent = !state.search ? ""
			: matches ? this.matchedText(zoomed) : "not a regular expression";
	}

	/* Return which match is selected, how many there are, and their share of the time. */
	matchedText(zoomed) {
		const { view, found } = this, at = found.indexOf(this.graph.selected);
		const share = (column) =>
			percent(matchedShare(view, this.matched, zoomed, column + view.unit), 1);
		const inside = zoomed ? " of the zoomed" : "";
		const number = at < 0 ? "" : `${count(at + 1)} of `;
		const matches = `${number}${plural(found.length, "match", "matches")}`;

		if (!found.length)
			return zoomed ? "no match in the zoomed" : "no match";
		return view.before ? `${matches}, ${share(0)}${inside}, before ${share(BEFORE)}`
			: `${matches}, ${share(0)}${inside}`;
	}

	/*
	 * Change the state. A change that needs a tree of other paths resets the zoom and keeps the
	 * selected function.
	 */
	change(changes, detail = false) {
		if (keepsPaths(changes) ||
			treeKey({ ...this.state, ...changes }) === treeKey(this.state))
			return this.history.change(changes, detail);
		const label = this.view.label[this.graph.selected];

		this.history.change({ ...changes, zoom: "", select: "" }, detail);
		const { width } = this.view, nodes = label >= 0 ? outermost(this.view, label) : [];
		const widest = nodes.reduce((best, node) => width[node] > width[best] ? node : best,
			nodes[0]);

		return widest && this.select(widest);
	}

	path(node) {
		return pathOf(this.view, this.labels, node);
	}

	/* Zoom into a node and select it; a tap only zooms, because the pane takes half a phone. */
	zoomTo(node, tapped = false) {
		this.change({ zoom: this.path(node), select: tapped ? "" : this.path(node) });
		this.panes.speak(this.graph.zoomed);
	}

	/* Select a frame and make it visible. */
	select(node) {
		const { graph, view } = this;
		let zoomed = graph.zoomed;

		while (zoomed > 0 && !(node >= zoomed && node < view.end[zoomed]))
			zoomed = view.parent[zoomed];
		while (zoomed !== node &&
			view.width[node] * graph.wide < LEAST * view.width[zoomed]) {
			let below = node;

			while (view.parent[below] !== zoomed)
				below = view.parent[below];
			zoomed = below;
		}
		if (zoomed === graph.zoomed)
			this.change({ select: this.path(node) }, true);
		else
			this.change({ select: this.path(node), zoom: this.path(zoomed) });
		graph.reveal(node);
		this.panes.speak(node);
	}

	/* Show all of it, also after a pinch, which the address does not know. */
	zoomOut() {
		if (this.graph.free)
			this.graph.zoom(0);
		this.zoomTo(0);
		this.showTrail();
	}

	/* On a small screen, show or hide the facts and what is chosen seldom. */
	showMore(on) {
		document.body.classList.toggle("open", on);
		byId("more").setAttribute("aria-expanded", String(on));
		this.graph.ask(true);
	}

	/* Show the frames of folded chains each in a row of its own, or fold them. */
	unfold(on) {
		this.change({ unfolded: on });
	}

	back() {
		if (!this.history.back() && this.graph.zoomed)
			this.zoomTo(0);
	}

	/* Move the selection by the arrow keys among frames that are wide enough to be visible. */
	move(where) {
		const { view, graph } = this, node = graph.selected;
		let to = -1;

		if (where === "back")
			to = chainOf(view, view.parent[chainOf(view, node)]);
		else if (where === "deeper")
			to = this.widestChild(chainEnd(view, chainOf(view, node)));
		else
			to = this.neighbour(node, where === "right" ? 1 : -1);
		if (to >= 0 && to < view.count)
			this.select(to);
	}

	widestChild(node) {
		const { view } = this;
		let widest = -1;

		for (let child = node + 1; child < view.end[node]; child = view.end[child])
			if (widest < 0 || view.width[child] > view.width[widest])
				widest = child;
		return widest;
	}

	neighbour(node, step) {
		const { view, graph } = this;

		for (let at = node + step; at > 0 && at < view.count; at += step)
			if (view.depth[at] === view.depth[node] && view.folded[at] >= 0 &&
				chainOf(view, node) !== at && graph.visible(at))
				return at;
		return -1;
	}

	/* Go to the next match by width, or with a step of -1 to the previous one. */
	goMatch(step) {
		const { graph, found } = this;

		if (!graph.matches)
			return byId("search").select();
		if (this.state.sandwich)
			return this.sandwich.goMatch(step);
		const at = found.indexOf(graph.selected), size = found.length;
		const to = at < 0 ? (step > 0 ? 0 : size - 1) : (at + step + size) % size;

		return size ? this.select(found[to]) : undefined;
	}

	/* Search while a text is typed: go to the widest match, without a change of the zoom. */
	search(text) {
		this.change({ search: text, select: "" }, true);
		const [node] = this.found;

		if (!node || this.state.sandwich)
			return;
		this.change({ select: this.path(node) }, true);
		this.graph.reveal(node);
		this.panes.speak(node);
	}

	searchFor(name) {
		this.change({ search: `^${name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$` });
		byId("search").value = this.state.search;
	}

	listen() {
		const on = (id, type, run) => byId(id).addEventListener(type, run);

		for (const id of ["split", "width", "order", "colour"])
			on(id, "change", (event) => this.change({ [id]: event.target.value }));
		on("event", "change", (event) => this.change({ event: event.target.value }));
		on("inverted", "click", () => this.change({ inverted: !this.state.inverted }));
		on("upward", "click", () => this.change({ upward: !this.state.upward }));
		on("unfolded", "click", () => this.unfold(!this.state.unfolded));
		on("nogc", "click", () => this.change({ nogc: !this.state.nogc }));
		on("as-graph", "click", () => this.change({ table: false, sandwich: "" }));
		on("as-table", "click", () => this.change({ table: true, sandwich: "" }));
		on("as-sandwich", "click", () => this.sandwich.center(this.sandwich.first()));
		on("reset", "click", () => this.zoomOut());
		on("more", "click", () => this.showMore(!document.body.classList.contains("open")));
		on("next", "click", () => this.goMatch(1));
		on("previous", "click", () => this.goMatch(-1));
		on("search", "input", (event) => this.search(event.target.value));
		on("search", "keydown", (event) => {
			if (event.key === "Enter")
				this.goMatch(event.shiftKey ? -1 : 1);
		});
		on("link", "click", () => this.copyLink());
		on("theme", "click", () =>
			this.chooseTheme(this.palette.name === "light" ? "dark" : "light", true));
		on("help", "click", () => this.showHelp());
		addEventListener("keydown", (event) => {
			if (runKey(this, event))
				event.preventDefault();
		});
		this.listenToPointer();
		this.listenToPrinting();
	}

	listenToPointer() {
		const canvas = byId("canvas"), { graph } = this;

		canvas.addEventListener("pointermove", (event) => {
			if (event.pointerType === "touch")
				return;
			const node = graph.at(event.offsetX, event.offsetY);

			canvas.style.cursor = node < 0 ? "default" : "pointer";
			graph.point(node);
			this.panes.showTip(node, event.clientX, event.clientY);
		});
		canvas.addEventListener("pointerleave", () => {
			graph.point(0);
			this.panes.hideTip();
		});
		canvas.addEventListener("click", (event) => {
			const node = graph.at(event.offsetX, event.offsetY);

			if (graph.onFold(node, event.offsetX) ||
				node >= 0 && node === graph.zoomed && this.view.folded[node])
				this.unfold(true);
			else if (node >= 0)
				this.zoomTo(node, event.pointerType === "touch");
		});
		this.graph.scroller.addEventListener("scroll", () => this.panes.hideTip());
	}

	/* Print in the light theme, as wide as the sheet, with all rows. */
	listenToPrinting() {
		const print = (on) => {
			if (Boolean(this.graph.printing) === on)
				return;
			if (on)
				this.shownTheme = this.palette.name;
			this.chooseTheme(on ? "light" : this.shownTheme);
			this.graph.print(on ? PAPER : 0);
		};

		addEventListener("beforeprint", () => print(true));
		addEventListener("afterprint", () => print(false));
		matchMedia("print").addEventListener("change", (event) => print(event.matches));
		DARK.addEventListener("change", () => this.chooseTheme(this.storedTheme()));
	}

	storedTheme() {
		try {
			const kept = localStorage.getItem(THEME_KEY);

			if (Object.hasOwn(THEMES, kept))
				return kept;
		} catch {
			// a browser may disable storage for file: pages
		}
		return DARK.matches ? "dark" : "light";
	}

	chooseTheme(theme, keep = false) {
		document.documentElement.dataset.theme = theme;
		byId("theme").textContent = theme === "light" ? "Dark" : "Light";
		this.palette.set(theme);
		try {
			if (keep)
				localStorage.setItem(THEME_KEY, theme);
		} catch {
			// the choice then lasts only as long as the page
		}
		if (!this.view)
			return;
		this.legend.show(this.state);
		this.waits.show(this.state);
		this.panes.show(this.graph.selected);
		this.showBody(this.state);
		this.timeline?.recolour();
		for (const graph of [this.graph, this.sandwich.callers, this.sandwich.callees])
			graph.ask();
	}

	async copyLink() {
		const button = byId("link");
		let done = true;

		try {
			await navigator.clipboard.writeText(location.href);
		} catch {
			const field = element("textarea", { class: "unseen", text: location.href });

			document.body.append(field);
			field.select();
			done = document.execCommand("copy");
			field.remove();
		}
		button.textContent = done ? "Copied" : "Copy the address";
		setTimeout(() => { button.textContent = "Copy link"; }, 1500);
	}

	showHelp() {
		byId("manual").replaceChildren(...helpParts(this));
		byId("manual").showModal();
		byId("manual").scrollTop = 0; // the focus is on the button at its end
	}
}

window.skeinPage = new Page(); // for the console and for tests
requestAnimationFrame(() => { window.skeinPage.opened = performance.now(); });
