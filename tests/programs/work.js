// SPDX-License-Identifier: Apache-2.0
// What node does all day: interpreted and compiled functions, garbage, regular expressions,
// JSON, its C++ libraries (zlib, crypto) on the main thread and in the thread pool.
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const zlib = require("zlib");

class Node {
	constructor(key) {
		this.key = key;
		this.left = this.right = null;
	}

	insert(key) {
		const side = key < this.key ? "left" : "right";
		if (this[side])
			this[side].insert(key);
		else
			this[side] = new Node(key);
	}

	depth() {
		return 1 + Math.max(this.left ? this.left.depth() : 0,
				    this.right ? this.right.depth() : 0);
	}
}

function* numbers(seed, count) {
	for (let i = 0; i < count; i++) {
		seed = (seed * 1103515245 + 12345) & 0x7fffffff;
		yield seed;
	}
}

function turn(seed) {
	const list = Array.from(numbers(seed, 3000));
	const root = new Node(list[0]);
	list.forEach(n => root.insert(n));
	const words = new Map();
	for (const n of list)
		words.set(`word-${n % 997}`, (words.get(`word-${n % 997}`) || 0) + 1);
	const text = JSON.stringify([...words].sort(([a], [b]) => a < b ? -1 : 1));
	const back = JSON.parse(text.replace(/word-(\d+)/g, (all, n) => `name ${n * 2}`));
	const hash = crypto.createHash("sha256").update(text).digest("hex");
	// a function that is new each time: parsed, interpreted, never compiled
	const fresh = new Function("a",
		`let s = ${seed}; for (const [k, v] of a) s += v; return s;`);
	fs.statSync("/");
	return zlib.gzipSync(text).length + root.depth() + hash.length + fresh(back);
}

function forever(seed) {
	turn(seed);
	zlib.deflate(Buffer.alloc(20000, seed), () => {});
	setImmediate(forever, seed + 1);
}

forever(1);
