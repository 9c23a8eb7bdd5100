// SPDX-License-Identifier: Apache-2.0
/*
 * Ask the server of a recording, `skein view`. It opens the page with a token in the address, which
 * leaves the address at once, so that no link has it: every request proves with it that it comes
 * from somebody who may read the recording.
 */

const TOKEN_KEY = "skein-token";
const TOKEN_FORM = /^[0-9a-f]{32}$/i;
const LONGEST_REFUSAL = 300; // characters of the server's reason that are shown

const STROKES_MAGIC = 0x31574b53; // "SKW1"
const STROKES_HEAD = 16; // bytes
const STROKE_SIZE = 3; // bytes: level, bar, ground
const PARTIAL = 1; // flag of an answer that lacks something

/* kind: "token" without a valid one, "gone" without a server, else "refused". */
class FeedError extends Error {
	constructor(kind, message) {
		super(message);
		this.kind = kind;
	}
}

/* Return an error of the feed; anything else means that what came has not the expected form. */
const feedError = (error) => error instanceof FeedError ? error
	: new FeedError("refused", "The server's answer is damaged.");

/* Take the token out of the address; "" if there is none. */
function tokenInAddress() {
	const parts = new URLSearchParams(location.hash.replace(/^#/, ""));
	const token = parts.get("token");

	if (token === null)
		return "";
	parts.delete("token");
	history.replaceState(history.state, "", parts.size ? `#${parts}`
		: location.pathname + location.search);
	return TOKEN_FORM.test(token) ? token : "";
}

/* Write a query; commas between lanes need no escape, and the address stays short without. */
function queryText(parts) {
	const pairs = Object.entries(parts).filter(([, value]) => value !== undefined);

	return pairs.length ? `?${pairs.map(([key, value]) =>
		`${key}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&")}` : "";
}

/*
 * Return the strokes of each lane that was asked for, as views of the answer's bytes, and the
 * columns of counters.
 */
function readStrokes(bytes, lanes) {
	const head = bytes.byteLength >= STROKES_HEAD
		? new DataView(bytes, 0, STROKES_HEAD) : null;
	const [magic, columns, found, flags] =
		[0, 4, 8, 12].map((at) => head?.getUint32(at, true) ?? 0);
	const size = columns * STROKE_SIZE;

	const strokes = new Map();
	let at = STROKES_HEAD;

	if (magic !== STROKES_MAGIC || !columns || found !== lanes.length)
		throw feedError();
	for (const lane of lanes) {
		if (isCounter(lane)) {
			const { made, end } = readCounter(bytes, at, columns);

			strokes.set(lane, made);
			at = end;
			continue;
		}
		if (at + size > bytes.byteLength)
			throw feedError();
		strokes.set(lane, new Uint8Array(bytes, at, size));
		at += size;
	}
	if (at !== bytes.byteLength)
		throw feedError();
	return { columns, partial: Boolean(flags & PARTIAL), strokes };
}

class Feed {
	constructor() {
		this.takeToken();
	}

	/* Use the token in the address, else the one that this tab had before a reload. */
	takeToken() {
		const token = tokenInAddress();

		try {
			if (token)
				sessionStorage.setItem(TOKEN_KEY, token);
			this.token = token || sessionStorage.getItem(TOKEN_KEY) || "";
		} catch {
			// without storage the token lasts as long as the page
			this.token = token || this.token || "";
		}
		return Boolean(token);
	}

	/* Ask, and read the answer as a Response's method `form` does; null without content. */
	async ask(path, parts, form, signal) {
		if (!this.token)
			throw new FeedError("token", "There is no token.");
		try {
			const answer = await fetch(`/api/${path}${queryText(parts)}`, {
				headers: { "X-Skein-Token": this.token }, signal,
				cache: "no-store", credentials: "omit", redirect: "error",
				referrerPolicy: "no-referrer" });

			if (!answer.ok)
				throw await this.refusal(answer);
			return answer.status === 204 ? null : await answer[form]();
		} catch (error) {
			throw this.causeOf(error, signal);
		}
	}

	async refusal(answer) {
		const [line] = (await answer.text()).trim().split("\n");

		return answer.status === 401 ? new FeedError("token", "The token is not valid.")
			: new FeedError("refused", visible(line.slice(0, LONGEST_REFUSAL) ||
				`The server answered ${answer.status}.`));
	}

	/* Any failure of the network means that the server has ended: it is on this machine. */
	causeOf(error, signal) {
		if (signal?.aborted || error instanceof FeedError)
			return error;
		return error instanceof SyntaxError ? feedError()
			: new FeedError("gone", "The server does not answer.");
	}

	/* by: what lanes of threads show; undefined: what skein view --lanes says. */
	trace(by) {
		return this.ask("trace", { by }, "json");
	}

	async window({ from, to, columns, lanes }, signal) {
		const bytes = await this.ask("window",
			{ from, to, columns, lanes: lanes.join(",") }, "arrayBuffer", signal);

		return readStrokes(bytes ?? new ArrayBuffer(0), lanes);
	}

	/*
	 * Return the data of a page for a part of the recording; null if it has no samples.
	 * data.part says which share of the time is in it; asked again, the server has read more.
	 */
	async profile(parts, signal) {
		const raw = await this.ask("profile", parts, "json", signal);

		return raw && { ...readRaw(raw), part: raw.part };
	}

	/* Return where functions ran. */
	marks(parts, signal) {
		return this.ask("marks", parts, "json", signal);
	}

	report(parts, signal) {
		return this.ask("report", parts, "json", signal);
	}

	/* Return what a lane did at a time; null if nothing is to be said. */
	at(lane, time, signal) {
		return lane === WANTED ? null : this.ask("at", { lane, time }, "json", signal);
	}

	chain(lane, time, signal) {
		return this.ask("chain", { lane, time }, "json", signal);
	}
}
