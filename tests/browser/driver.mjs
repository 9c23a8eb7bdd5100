// SPDX-License-Identifier: Apache-2.0
/*
 * driver.mjs PLAYWRIGHT CHROMIUM: a browser that does what the lines of its input say, each a JSON
 * array of a command and its arguments, and answers each with a line {"value"} or {"error"}. It
 * notes what a page must not do: ask for anything but itself, break its policy, throw.
 */
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const PATIENCE = 60000; // ms
const [folder, program] = process.argv.slice(2);
const { chromium } = createRequire(import.meta.url)(folder);
const browser = await chromium.launch({ executablePath: program,
	args: ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb",
		"--hide-scrollbars"] });
let context, chosen, page, noted; // chosen: the context's options

function watch() {
	noted = { requests: [], violations: [], errors: [] };
	page.on("request", (request) => noted.requests.push(request.url()));
	page.on("pageerror", (error) => noted.errors.push(String(error.stack ?? error)));
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type()))
			noted.errors.push(message.text());
	});
	return page.addInitScript(() => {
		window.violations = [];
		document.addEventListener("securitypolicyviolation", (event) => {
			const { violatedDirective, blockedURI, sample } = event;

			window.violations.push(`${violatedDirective} ${blockedURI} ${sample}`);
		});
	});
}

const commands = {
	async open(url, options = {}) {
		const wanted = JSON.stringify(options);

		await page?.close();
		if (wanted !== chosen) {
			await context?.close();
			context = await browser.newContext({ viewport: { width: 1400, height: 900 },
				...options });
			context.setDefaultTimeout(PATIENCE);
			chosen = wanted;
		}
		page = await context.newPage();
		await watch();
		await page.goto(url);
	},
	goto: (url) => page.goto(url).then(() => undefined),
	reload: () => page.reload().then(() => undefined),
	evaluate: (expression) => page.evaluate(expression),
	/* Playwright's own way of waiting is refused by the page's policy. */
	async wait(expression) {
		for (const end = Date.now() + PATIENCE; !await page.evaluate(expression);) {
			if (Date.now() > end)
				throw new Error(`still not: ${expression}`);
			await new Promise((done) => setTimeout(done, 20));
		}
	},
	click: (selector, options) => page.click(selector, options),
	mouse: (x, y) => page.mouse.click(x, y),
	hover: (x, y) => page.mouse.move(x, y),
	/* Turn the wheel where the mouse is. */
	wheel: (x, y) => page.mouse.wheel(x, y),
	double: (x, y) => page.mouse.dblclick(x, y),
	/* Press the mouse at a place, move it to another in steps, and let it go unless it is held. */
	async drag([x, y], to, { held = false, steps = 4 } = {}) {
		await page.mouse.move(x, y);
		await page.mouse.down();
		await page.mouse.move(...to, { steps });
		if (!held)
			await page.mouse.up();
	},
	release: () => page.mouse.up(),
	/* Hold a key down, or let it go. */
	hold: (key) => page.keyboard.down(key),
	lift: (key) => page.keyboard.up(key),
	tap: (x, y) => page.touchscreen.tap(x, y),
	/* Fingers at places [[x, y], ...]; type: touchStart, touchMove or touchEnd. */
	async touch(type, places) {
		// a gesture ends with its session
		page.session ??= await context.newCDPSession(page);
		await page.session.send("Input.dispatchTouchEvent",
			{ type, touchPoints: places.map(([x, y], id) => ({ x, y, id })) });
	},
	press: (key) => page.keyboard.press(key),
	fill: (selector, text) => page.fill(selector, text),
	choose: (selector, value) => page.selectOption(selector, value),
	attach: (selector, path) => page.setInputFiles(selector, path),
	text: (selector) => page.innerText(selector),
	back: () => page.goBack().then(() => undefined),
	forward: () => page.goForward().then(() => undefined),
	media: (options) => page.emulateMedia(options),
	pdf: (path) => page.pdf({ path, preferCSSPageSize: true }).then(() => undefined),
	shot: (path, options = {}) => page.screenshot({ path, ...options }).then(() => undefined),
	async noted() {
		return { ...noted, violations: await page.evaluate("window.violations") };
	},
};

for await (const line of createInterface({ input: process.stdin })) {
	const [command, ...args] = JSON.parse(line);

	try {
		console.log(JSON.stringify({ value: await commands[command](...args) ?? null }));
	} catch (error) {
		console.log(JSON.stringify({ error: String(error.stack ?? error) }));
	}
}
await browser.close();
