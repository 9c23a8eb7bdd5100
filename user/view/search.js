// SPDX-License-Identifier: Apache-2.0
/* Search functions by a regular expression, and compute their share of the time. */

/*
 * Return the matches by label; a text in lower case ignores case. null: the text is no valid
 * regular expression.
 */
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

/*
 * Return the outermost matching nodes in a node; the time of nodes below them is already
 * included.
 */
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

/* Return the share of matching nodes in a node, by column. */
function matchedShare(view, nodes, within, column) {
	const total = view.total[column], whole = total[within];

	return whole ? nodes.reduce((sum, node) => sum + total[node], 0) / whole : 0;
}

/* Return the next matching node in either direction; nested ones count if they are visible. */
function matchAfter(view, matches, node, step, within) {
	const first = within, last = view.end[within] - 1, size = last - first + 1;

	for (let i = 1; i <= size; i++) {
		const at = first + ((node - first + step * i) % size + size) % size;

		if (at > 0 && matches[view.label[at]] && view.width[at] > 0)
			return at;
	}
	return -1;
}
