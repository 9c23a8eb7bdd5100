// SPDX-License-Identifier: Apache-2.0
/* Functions whose names fit a regular expression, and the share of time they stand for. */

/* By label; small letters fit both. null: what was typed is no regular expression. */
function searchLabels(labels, text) {
	let expression;

	try {
		expression = new RegExp(text, text === text.toLowerCase() ? "iu" : "u");
	} catch {
		return null;
	}
	return Uint8Array.from(labels.name, (name, label) =>
		expression.test(name) || expression.test(labels.shortModule(label)) ? 1 : 0);
}

/* The outermost of the nodes that match, in a node; what is below one is in its time already. */
function matchingNodes(view, matches, within) {
	const found = [];

	for (let node = within; node < view.end[within];) {
		const hit = node > 0 && matches[view.label[node]];

		if (hit)
			found.push(node);
		node = hit ? view.end[node] : node + 1;
	}
	return found;
}

/* Their share of a node, by column. */
function matchedShare(view, nodes, within, column) {
	const total = view.total[column], whole = total[within];

	return whole ? nodes.reduce((sum, node) => sum + total[node], 0) / whole : 0;
}

/* All that match, for going from one to the next; nested ones, too, if they can be told apart. */
function matchAfter(view, matches, node, step, within) {
	const first = within, last = view.end[within] - 1, size = last - first + 1;

	for (let i = 1; i <= size; i++) {
		const at = first + ((node - first + step * i) % size + size) % size;

		if (at > 0 && matches[view.label[at]] && view.width[at] > 0)
			return at;
	}
	return -1;
}
