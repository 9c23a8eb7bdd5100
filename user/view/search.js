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

/* Return all matching nodes in a node, nested ones too, that have a width: the widest first. */
function matchesByWidth(view, matches, within) {
	const { label, width } = view, found = [];

	for (let node = within; node < view.end[within]; node++)
		if (node > 0 && matches[label[node]] && width[node] > 0)
			found.push(node);
	return Int32Array.from(found).sort((a, b) => width[b] - width[a] || a - b);
}
