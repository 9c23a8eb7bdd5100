// SPDX-License-Identifier: Apache-2.0
/* Make the tree to draw from the profile and the state. */

/* Columns of values; in a comparison the columns of the old profile follow at BEFORE. */
const WEIGHT = 0, COUNT = 1, BEFORE = 2;

/* Columns of the time by class of wait follow at WAITS in views of waits. */
const WAITS = 2, RUNNING = 0, MIXED = -1;

const SPLITS = {
	none: "nothing",
	program: "program",
	process: "process",
	thread: "thread",
	service: "service",
	container: "container",
	wait: "class of wait",
};

/*
 * Name the group of a thread; pids and tids are left out of a comparison, because they differ
 * anyway.
 */
function groupName(thread, split, numbered) {
	const process = thread.process;
	const program = process?.name ?? "[unknown]";
	const of = (name, number) => numbered && process ? `${name} (${number})` : name;

	if (split === "service")
		return process?.service || "[no service]";
	if (split === "container")
		return process?.container || process?.cgroup || "[no container]";
	if (split === "thread")
		return of(thread.name === program ? program : `${program} / ${thread.name}`,
			thread.tid);
	return split === "process" ? of(program, process?.pid) : program;
}

class Views {
	constructor(data) {
		this.data = data;
		this.labels = data.labels;
		this.columns = data.before ? 4 : 2;
		this.hiddenLabel = this.labels.number("[hidden]", "", KIND.mark);
		this.events = this.eventsWithSamples();
		this.groups = new Map();
		this.base = this.unite();
	}

	/* Return the events that have samples, by name, with their numbers on each side. */
	eventsWithSamples() {
		const found = new Map();

		this.data.sides.forEach((side, which) => {
			for (const number of [...new Set(side.sums.event)].sort((a, b) => a - b)) {
				const event = side.events[number];

				this.addEvent(found, event, which, [number]);
			}
			const wall = side.events.find(({ of }) => of === OF.wall);
			const parts = wall?.parts.map((part) =>
				side.events.findIndex(({ name }) => name === part.name));

			if (parts?.every((number) => side.sums.event.includes(number)))
				this.addEvent(found, wall, which, parts);
		});
		return [...found.values()];
	}

	/* Add a side's event; numbers are those of its sums. */
	addEvent(found, event, which, numbers) {
		if (!found.has(event.name))
			found.set(event.name, { ...event, numbers: [[], []] });
		found.get(event.name).numbers[which] = numbers;
	}

	/* Return the event of that name; without a name the first, of CPU time if there is one. */
	eventNamed(name) {
		return this.events.find((event) => event.name === name) ??
			this.events.find(({ of }) => of === OF.samples) ?? this.events[0];
	}

	/* Return the classes of wait that an event has, with their times; RUNNING is no wait. */
	classesOf(event) {
		const { sums } = this.data.now, times = new Float64Array(this.data.waits.length);

		if (!event || event.of === OF.samples || !sums.wait || this.data.before)
			return { list: [], times };
		for (let i = 0; i < sums.node.length; i++)
			if (event.numbers[0].includes(sums.event[i]))
				times[sums.wait[i]] += sums.weight[i];
		return { list: Array.from(times.keys()).filter((number) =>
			number !== RUNNING && times[number]), times };
	}

	/* Merge the trees of both sides; place holds the merged node of each node of a side. */
	unite() {
		const { now, before } = this.data;

		if (!before)
			return { parent: now.parent, label: now.label, count: now.parent.length,
				place: [null] };
		const tree = new Builder(now.parent.length + 1024, 0);
		const place = this.data.sides.map((side) => {
			const nodes = new Int32Array(side.parent.length);

			for (let i = 1; i < nodes.length; i++)
				nodes[i] = tree.child(nodes[side.parent[i]], side.label[i]);
			return nodes;
		});

		return { parent: tree.parent, label: tree.label, count: tree.count, place };
	}

	/* Return the root label of each thread's stacks; -1 for none. */
	groupLabels(which, split) {
		const key = `${which} ${split}`;

		if (!this.groups.has(key))
			this.groups.set(key, Int32Array.from(this.data.sides[which].threads,
				(thread) => {
					const name = groupName(thread, split, !this.data.before);

					return split === "none" ? -1
						: this.labels.number(name, "", KIND.group);
				}));
		return this.groups.get(key);
	}

	/* Return the root label of the sums of a class of wait. */
	waitLabel(number) {
		const of = this.data.waits[number];

		return this.labels.number(of ? `waits: ${of.name}` : "runs", "", KIND.group);
	}

	/*
	 * Return the event's sums by the label of their group, without those of hidden classes of
	 * wait (by bit), and with nogc without those in collections of garbage; sums of the old
	 * profile as -1, -2, ...
	 */
	chosen(event, { split, nogc }, hidden) {
		const byGroup = new Map(), byWait = split === "wait";

		this.data.sides.forEach((side, which) => {
			const groups = byWait ? null : this.groupLabels(which, split);
			const { node, thread, wait, collecting, event: of } = side.sums;
			const wanted = new Uint8Array(side.events.length);

			for (const number of event.numbers[which])
				wanted[number] = 1;
			for (let i = 0; i < node.length; i++) {
				const number = wait ? wait[i] : RUNNING;

				if (!wanted[of[i]] || hidden >> number & 1 ||
					nogc && collecting?.[i])
					continue;
				const group = byWait ? this.waitLabel(number) : groups[thread[i]];
				let list = byGroup.get(group);

				if (!list)
					byGroup.set(group, list = []);
				list.push(which === 0 ? i : -i - 1);
			}
		});
		return byGroup;
	}

	/*
	 * Add the tree as recorded, callers above callees; the time of hidden kinds counts for
	 * their callers.
	 */
	plain(tree, byGroup, hidden) {
		const { parent, label } = this.base, kinds = this.labels.kind;
		const stamp = new Int32Array(this.base.count);
		const place = new Int32Array(this.base.count);
		const path = [];
		let turn = 0, top = 0;

		/* Return the new node of a base node; known parts of the path are reused. */
		const placed = (node) => {
			for (; node > 0 && stamp[node] !== turn; node = parent[node])
				path.push(node);
			let at = node > 0 ? place[node] : top;

			while (path.length) {
				const next = path.pop();

				if (!(hidden >> kinds[label[next]] & 1))
					at = hidden ? tree.child(at, label[next])
						: tree.add(at, label[next]);
				stamp[next] = turn;
				place[next] = at;
			}
			return at;
		};

		for (const [group, list] of byGroup) {
			turn++;
			top = group < 0 ? 0 : hidden ? tree.child(0, group) : tree.add(0, group);
			for (const which of list) {
				const node = placed(this.nodeOf(which));

				this.put(tree, node === top && hidden
					? tree.child(top, this.hiddenLabel) : node, which);
			}
		}
	}

	/* Add the tree from the leaves: each function with self time, and below it its callers. */
	inverted(tree, byGroup, hidden) {
		const { parent, label } = this.base, kinds = this.labels.kind;

		for (const [group, list] of byGroup) {
			const top = group < 0 ? 0 : tree.child(0, group);

			for (const which of list) {
				let at = top;

				for (let node = this.nodeOf(which); node > 0; node = parent[node])
					if (!(hidden >> kinds[label[node]] & 1))
						at = tree.child(at, label[node]);
				this.put(tree, at === top ? tree.child(top, this.hiddenLabel) : at,
					which);
			}
		}
	}

	/*
	 * Return the base node of a sum: which is the number of a sum of the new profile, or
	 * negative for the old one.
	 */
	nodeOf(which) {
		const place = this.base.place[which < 0 ? 1 : 0], { now, before } = this.data;
		const node = which < 0 ? before.sums.node[-which - 1] : now.sums.node[which];

		return place ? place[node] : node;
	}

	put(tree, node, which) {
		const sums = which < 0 ? this.data.before.sums : this.data.now.sums;
		const column = which < 0 ? BEFORE : 0, i = which < 0 ? -which - 1 : which;

		tree.self[column + WEIGHT][node] += sums.weight[i];
		tree.self[column + COUNT][node] += sums.count[i];
		if (sums.wait && this.slots[sums.wait[i]])
			tree.self[this.slots[sums.wait[i]]][node] += sums.weight[i];
	}

	/*
	 * Return the arranged tree of a state (state.js); unit is the column of which shares are
	 * computed. If an event has no weights, samples are used.
	 */
	view(state) {
		const event = this.eventNamed(state.event), { list, times } = this.classesOf(event);
		const tree = new Builder(Math.max(1024, this.base.count + 64),
			this.columns + list.length);
		const hidden = list.length ? state.waits : 0;
		const byGroup = event ? this.chosen(event, state, hidden) : new Map();

		// column of each class
		this.slots = [];
		list.forEach((number, i) => { this.slots[number] = WAITS + i; });

		const inverted = state.inverted && !state.sandwich;

		this[inverted ? "inverted" : "plain"](tree, byGroup, state.hidden);
		const whole = tree.self.map((self) => self.reduce((sum, value) => sum + value, 0));
		const unit = state.width === "samples" || !whole[WEIGHT] && !whole[BEFORE] ? COUNT
			: WEIGHT;
		const widthOf = this.data.before ? widths(state.width, unit, whole)
			: (total) => total[unit];
		const { kind } = this.labels;
		const isGroup = (label) => kind[label] === KIND.group;
		// in an inverted tree the frames at the root are what is looked for
		const arranged = arrange(tree, { widthOf,
			ranks: this.labels.ranks(), heaviest: state.order === "weight",
			isGroup: state.unfolded || inverted ? null : isGroup });

		return Object.assign(arranged, { event, unit, whole, widthOf, inverted,
			classes: list, times, before: Boolean(this.data.before) });
	}
}

/*
 * Return the function that computes widths: by the new profile, the old one, or both, so that
 * nothing is missing.
 */
function widths(which, unit, whole) {
	const share = (total, column) => {
		const factor = whole[column] ? 1 / whole[column] : 0;

		return total[column].map((value) => value * factor);
	};

	return (total) => {
		const now = share(total, unit), before = share(total, BEFORE + unit);

		if (which === "both")
			return now.map((value, i) => (value + before[i]) / 2);
		return which === "before" ? before : now;
	};
}

/* Return a node's share of the whole, of the new profile or, with BEFORE, of the old one. */
function shareOf(view, node, column = 0) {
	const whole = view.whole[column + view.unit];

	return whole ? view.total[column + view.unit][node] / whole : 0;
}

/*
 * Return the times of a node by class of wait, as pairs of class and ns, those above 0; RUNNING is
 * the time of no wait.
 */
function timesByClass(view, columns) {
	let running = columns(WEIGHT);
	const found = view.classes.map((number, i) => {
		const time = columns(WAITS + i);

		running -= time;
		return [number, time];
	});

	return [[RUNNING, running], ...found].filter(([, time]) => time > 0);
}

const timesOf = (view, node) => timesByClass(view, (column) => view.total[column][node]);
const largest = (times) => times.reduce((most, one) => one[1] > most[1] ? one : most, [0, 0]);

/* Return the class to which more than half of a node's time belongs, or MIXED. */
function mainClass(view, node) {
	const [number, time] = largest(timesOf(view, node));

	return 2 * time > view.total[WEIGHT][node] ? number : MIXED;
}

const change = (view, node) => shareOf(view, node) - shareOf(view, node, BEFORE);
