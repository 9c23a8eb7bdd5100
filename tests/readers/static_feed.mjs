// SPDX-License-Identifier: Apache-2.0
/*
 * static_feed.mjs VIEW PAGE: answer from a page what its timeline asks. VIEW is user/view/. Each
 * line of the input is a JSON array of a method of StaticFeed and its arguments; each answer is a
 * line of JSON, with strokes as base64 by lane, and columns of a counter as arrays of four values.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { runInThisContext } from "node:vm";

const [folder, path] = process.argv.slice(2);
const sources = ["text", "feed", "timeline_lanes", "timeline_counters", "static_runs",
	"static_cells", "static_counters", "static_wanted", "static_feed"];
const StaticFeed = runInThisContext(`(() => {
${sources.map((name) => readFileSync(`${folder}/${name}.js`, "utf8")).join("\n")}
return StaticFeed; })()`);
const page = readFileSync(path, "utf8");
const [, data] = page.match(/<script id="data" type="application\/json">\n(.*?)<\/script>/s);
const [, columns] = page.match(/<script id="columns" type="text\/plain">(.*?)\s*<\/script>/s);
const text = { length: columns.length,
	substringData: (at, size) => columns.slice(at, at + size) };
const feed = new StaticFeed(JSON.parse(data).timeline, () => [text]);

/* Return the columns of a counter: JSON has no NaN ("none") and no infinity ("lost"). */
function columnsOf({ least, most, last, lost }) {
	const all = [least, most, last, lost].map((column) => [...column].map((value) =>
		Number.isNaN(value) ? "none" : value === Infinity ? "lost" : value));

	return all[0].map((_, i) => all.map((column) => column[i]));
}

await feed.trace();
for await (const line of createInterface({ input: process.stdin })) {
	const [method, ...args] = JSON.parse(line);
	const answer = await feed[method](...args);

	if (answer?.strokes)
		answer.strokes = Object.fromEntries([...answer.strokes].map(([lane, strokes]) =>
			[lane, strokes.least ? columnsOf(strokes)
				: Buffer.from(strokes).toString("base64")]));
	console.log(JSON.stringify(answer));
}
