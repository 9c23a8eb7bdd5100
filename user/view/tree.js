// SPDX-License-Identifier: Apache-2.0
/*
 * Trees in typed arrays. A Builder adds nodes by (parent, label). In an arranged tree the nodes
 * are in drawing order: a node, then all nodes below it, up to end[node]. Values are columns:
 * weight and count, and in a comparison both of the old profile, too.
 */

class Builder {
	constructor(capacity, columns) {
		this.count = 1;
		this.parent = new Int32Array(capacity);
		this.label = new Int32Array(capacity);
		this.self = Array.from({ length: columns }, () => new Float64Array(capacity));
		this.parent[0] = this.label[0] = -1;
		this.slots = null;
	}

	grow() {
		const wider = (old) => {
			const fresh = new old.constructor(2 * old.length);

			fresh.set(old);
			return fresh;
		};

		this.parent = wider(this.parent);
		this.label = wider(this.label);
		this.self = this.self.map(wider);
	}

	/* Add a child that is known to be new. */
	add(parent, label) {
		if (this.count === this.parent.length)
			this.grow();
		this.parent[this.count] = parent;
		this.label[this.count] = label;
		return this.count++;
	}

	slot(parent, label) {
		const mask = this.slots.length - 1;
		let at = Math.imul(parent, 0x9e3779b1) ^ Math.imul(label, 0x85ebca6b);

		at = (at ^ at >>> 15) & mask;
		for (let node; (node = this.slots[at]) !== 0; at = at + 1 & mask)
			if (this.parent[node] === parent && this.label[node] === label)
				break;
		return at;
	}

	rehash(size) {
		this.slots = new Int32Array(size); // 0, the root, is no child
		for (let node = 1; node < this.count; node++)
			this.slots[this.slot(this.parent[node], this.label[node])] = node;
	}

	/* Return the child with a label; create the child if there is none. */
	child(parent, label) {
		if (!this.slots || 2 * this.count > this.slots.length)
			this.rehash(2 ** Math.ceil(Math.log2(4 * this.count + 1024)));
		const at = this.slot(parent, label);

		return this.slots[at] || (this.slots[at] = this.add(parent, label));
	}
}

/* Compute the totals of nodes, including everything below. */
function totals(tree) {
	return tree.self.map((self) => {
		const total = self.slice(0, tree.count);

		for (let node = tree.count - 1; node > 0; node--)
			total[tree.parent[node]] += total[node];
		return total;
	});
}

/* Order nodes by numbers from 0 to limit, without comparisons. */
function countingSort(tree, numbers, limit) {
	const starts = new Int32Array(limit + 1), order = new Int32Array(tree.count - 1);

	for (let node = 1; node < tree.count; node++)
		starts[numbers[tree.label[node]] + 1]++;
	for (let i = 1; i <= limit; i++)
		starts[i] += starts[i - 1];
	for (let node = 1; node < tree.count; node++)
		order[starts[numbers[tree.label[node]]]++] = node;
	return order;
}

function byWidth(tree, width) {
	const order = new Int32Array(tree.count - 1);

	for (let i = 0; i < order.length; i++)
		order[i] = i + 1;
	return order.sort((a, b) => width[b] - width[a] || a - b);
}

/* Link lists of children in the given order of all nodes. */
function siblings(tree, order) {
	const first = new Int32Array(tree.count).fill(-1), next = first.slice();

	for (let i = order.length - 1; i >= 0; i--) {
		next[order[i]] = first[tree.parent[order[i]]];
		first[tree.parent[order[i]]] = order[i];
	}
	return { first, next };
}

/* Compute the position of every node in depth-first order. */
function preorder(tree, { first, next }) {
	const order = new Int32Array(tree.count), end = new Int32Array(tree.count);
	const place = new Int32Array(tree.count);
	let node = 0, placed = 0;

	for (;;) {
		place[node] = placed;
		order[placed++] = node;
		if (first[node] >= 0) {
			node = first[node];
			continue;
		}
		while (node > 0 && next[node] < 0) {
			end[place[node]] = placed;
			node = tree.parent[node];
		}
		end[place[node]] = placed;
		if (node === 0)
			return { order, end, place };
		node = next[node];
	}
}

const FOLDED = 2; // least frames of a chain that is folded
const PASSED_ON = 0.99; // least share of its width that a folded frame passes on

/*
 * Return for each node of an arranged tree, whose parents and ends are given, the length of the
 * folded chain that begins there; for the other frames of the chain the distance to the first,
 * below 0; else 0. A chain begins below the root or a group (whose labels isGroup knows), and each
 * of its frames has one child, to which it passes on its time. Its last child stays outside, as
 * the first frame that divides its time.
 */
function foldChains({ parent, end, width, label }, isGroup) {
	const folded = new Int32Array(parent.length);
	const onlyChild = (node) => node + 1 < end[node] && end[node + 1] === end[node] &&
		width[node + 1] >= PASSED_ON * width[node];
	const isTop = (node) => node === 0 || isGroup(label[node]);

	for (let first = 1; first < parent.length; first++) {
		if (!isTop(parent[first]) || isTop(first))
			continue;
		let last = first;

		while (onlyChild(last))
			last++;
		if (last - first >= FOLDED) {
			folded[first] = last - first;
			for (let node = first + 1; node < last; node++)
				folded[node] = first - node;
		}
		first = last;
	}
	return folded;
}

/* Return the first frame of the folded chain of a node, or the node if it is in none. */
const chainOf = (view, node) => view.folded[node] < 0 ? node + view.folded[node] : node;
/* Return the last frame of the folded chain that begins at a node. */
const chainEnd = (view, node) => node + Math.max(1, view.folded[node]) - 1;

/*
 * Arrange the tree for drawing: left and width in the unit of the requested width, inner: where
 * the last child ends, self and total by column. sorted: whether the widest sibling is the first.
 * isGroup: fold chains, see foldChains().
 */
function arrange(tree, { widthOf, ranks, heaviest, isGroup }) {
	const all = totals(tree), wide = widthOf(all, tree.count);
	const sorted = heaviest ? byWidth(tree, wide) : countingSort(tree, ranks, ranks.length);
	const { order, end, place } = preorder(tree, siblings(tree, sorted));
	const gather = (from) => {
		const to = new from.constructor(order.length);

		for (let i = 0; i < order.length; i++)
			to[i] = from[order[i]];
		return to;
	};
	const n = tree.count, parent = new Int32Array(n), depth = new Int32Array(n);
	const left = new Float64Array(n), cursor = new Float64Array(n);
	const width = gather(wide), label = gather(tree.label);
	let deepest = 0;

	parent[0] = -1;
	for (let i = 1; i < n; i++)
		parent[i] = place[tree.parent[order[i]]];
	const folded = isGroup ? foldChains({ parent, end, width, label }, isGroup)
		: new Int32Array(n);

	for (let i = 1; i < n; i++) {
		const above = parent[i];

		depth[i] = depth[above] + (folded[i] < 0 ? 0 : 1);
		deepest = Math.max(deepest, depth[i]);
		left[i] = cursor[i] = cursor[above];
		cursor[above] += width[i];
	}
	return { count: n, parent, depth, end, left, width, deepest, folded, label,
		inner: cursor, sorted: heaviest,
		self: tree.self.map(gather),
		total: all.map(gather) };
}
