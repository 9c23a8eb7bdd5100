// SPDX-License-Identifier: Apache-2.0
/*
 * Compare the recording of this page with that of another page, whose file is chosen or dropped.
 * The other file is read as data only: nothing of it runs or becomes part of the document.
 */

const LARGEST = 1 << 30; // bytes of a file that is read
const DATA_BEGINS = '<script id="data" type="application/json">';
const DATA_ENDS = "<\/script>";
const TRACE_BEGINS = "SQLite format 3";

/* Return the sources of the profiles in the text of a page. Throw an Error with the reason. */
function sourcesInPage(text) {
	const begin = text.indexOf(DATA_BEGINS), end = text.indexOf(DATA_ENDS, begin);

	if (begin < 0 || end < 0)
		throw new Error("it is no page that skein made");
	const raw = JSON.parse(text.slice(begin + DATA_BEGINS.length, end));

	if (!raw.profiles[0].commonNames)
		throw new Error("it is from another version of skein: export its trace again");
	return sourcesOf(raw);
}

class Comparer {
	constructor(page) {
		const file = byId("other");

		this.page = page;
		this.own = page.data.sources;
		byId("compare").addEventListener("click", () => this.compared
			? this.use(this.own) : file.click());
		file.addEventListener("change", () => {
			if (file.files.length)
				this.open(file.files[0]);
			file.value = ""; // so that the same file can be chosen again
		});
		byId("swap").addEventListener("click", () =>
			this.use([...page.data.sources].reverse()));
		addEventListener("dragover", (event) => {
			if (event.dataTransfer.types.includes("Files"))
				event.preventDefault();
		});
		addEventListener("drop", (event) => {
			const [dropped] = event.dataTransfer.files;

			if (!dropped)
				return;
			event.preventDefault();
			this.open(dropped);
		});
		this.showControls();
	}

	/* Whether the page shows another recording than those in its file. */
	get compared() {
		return this.page.data.sources.some((source) => !this.own.includes(source));
	}

	/* Compare the page's recording with that of a file: the older one is before. */
	async open(file) {
		byId("refused").hidden = true;
		try {
			if (file.size > LARGEST)
				throw new Error("it is larger than 1 GiB");
			const text = await file.text();

			if (text.startsWith(TRACE_BEGINS))
				throw new Error("it is a trace, which a browser cannot read: " +
					"choose its page (skein export TRACE -o PAGE.html), " +
					"or skein diff BEFORE AFTER -o changed.html");
			const [mine] = this.own, [other] = sourcesInPage(text);
			const isOlder = other.raw.host.utc <= mine.raw.host.utc;
			const names = [mine, other].map(({ raw, strings }) =>
				raw.events.map(({ name }) => strings[name]));

			if (!names[0].some((name) => names[1].includes(name)))
				throw new Error("it has no event that is recorded here, too");
			this.use(isOlder ? [mine, other] : [other, mine]);
		} catch (error) {
			byId("refused").textContent = `${visible(file.name)} cannot be compared: ` +
				`${error.constructor === Error ? error.message : "it is damaged"}.`;
			byId("refused").hidden = false;
		}
	}

	use(sources) {
		this.page.use(readSources(this.page.data, sources));
		this.showControls();
	}

	showControls() {
		const { compared, page: { data } } = this;

		byId("refused").hidden = true;
		byId("swap").hidden = !data.before;
		byId("compare").textContent = compared ? "End comparison" : "Compare";
		byId("compare").title = compared ? "Show this page's own recording"
			: "With the recording of another page: choose its file, or drop it here";
	}
}
