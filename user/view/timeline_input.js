// SPDX-License-Identifier: Apache-2.0
/* Gestures on the lanes and on the axis, by mouse, pen and fingers. */

const CLICK_MOVE = 4; // px that a pointer may move in a click
const WHEEL_ZOOM = 400; // px of a wheel that zoom by e
const LINE = 16; // px that a wheel which counts lines moves by

/* What the mouse does, as the help shows it. docs/page.md has the same tables. */
const LANE_MOUSE = [
	["wheel over the lanes", "zoom at the pointer; over the names: scroll"],
	["Shift+wheel", "move along the time; so does a wheel that moves sideways"],
	["drag", "move along the time"],
	["Shift+drag, drag on the axis", "select a part of the time: its flame graph"],
	["click", "what the thread or CPU did there"],
	["double click", "zoom to what is there, or to the selected part of the time"],
	["click on a name", "select the lane: its flame graph"],
];

const LANE_TOUCH = [
	["pinch the lanes", "zoom the time"],
	["drag the lanes", "move along the time, or scroll"],
	["drag on the axis", "select a part of the time: its flame graph"],
	["tap a lane", "what the thread or CPU did there"],
];

class LaneInput {
	constructor(timeline) {
		this.timeline = timeline;
		this.pointers = new Map(); // px from the left, by pointer
		this.gesture = null;
		for (const canvas of [byId("marks"), byId("axis")])
			this.listen(canvas, canvas.id === "axis");
	}

	listen(canvas, axis) {
		const on = (type, run) => canvas.addEventListener(type, run, { passive: false });

		on("wheel", (event) => this.wheel(event));
		on("pointerdown", (event) => this.down(event, axis));
		on("pointermove", (event) => this.move(event));
		on("pointerup", (event) => this.up(event));
		on("pointercancel", (event) => this.cancel(event));
		on("pointerleave", () => this.timeline.point(null));
		on("dblclick", (event) => this.timeline.zoomToWhatIsAt(event.offsetX));
	}

	wheel(event) {
		const size = event.deltaMode ? LINE : 1, { timeline } = this;
		const aside = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
		const { wide } = timeline.picture, { from, to } = timeline.view;

		event.preventDefault();
		if (!event.ctrlKey && (event.shiftKey || Math.abs(aside) > Math.abs(event.deltaY)))
			timeline.pan(aside * size / wide * (to - from));
		else
			timeline.zoom(Math.exp(event.deltaY * size / WHEEL_ZOOM),
				timeline.picture.time(event.offsetX));
	}

	down(event, axis) {
		if (event.button)
			return;
		const { timeline } = this, { offsetX: x, offsetY: y } = event;

		byId("names").focus({ preventScroll: true });
		event.target.setPointerCapture(event.pointerId);
		this.pointers.set(event.pointerId, x);
		if (this.pointers.size > 1) {
			this.pinch();
			return;
		}
		this.gesture = { axis, x, y, last: x, lastY: event.clientY, moved: false,
			selects: axis || event.shiftKey, begun: timeline.picture.time(x),
			finger: event.pointerType === "touch" };
	}

	/* Two fingers hold two times; a selection that one of them had begun is given up. */
	pinch() {
		this.timeline.drag(null);
		this.gesture = { pinched: true };
	}

	move(event) {
		const { offsetX: x } = event, { timeline, gesture } = this;

		if (event.pointerType !== "touch")
			timeline.point(x);
		if (!this.pointers.has(event.pointerId))
			return;
		if (this.pointers.size > 1) {
			this.spread(event.pointerId, x);
			return;
		}
		this.pointers.set(event.pointerId, x);
		if (!gesture || gesture.pinched)
			return;
		gesture.moved ||= Math.abs(x - gesture.x) > CLICK_MOVE ||
			Math.abs(event.offsetY - gesture.y) > CLICK_MOVE;
		if (gesture.moved)
			this.follow(event, gesture);
	}

	/* Move what is shown, or the end of the selection, with the pointer. */
	follow({ offsetX: x, clientY }, gesture) {
		const { timeline, timeline: { picture, view } } = this;

		if (gesture.selects) {
			timeline.drag([gesture.begun, picture.time(x)]);
			return;
		}
		timeline.pan((gesture.last - x) / picture.wide * (view.to - view.from));
		if (!gesture.finger) // the browser itself scrolls with a finger
			picture.scroller.scrollTop += gesture.lastY - clientY;
		gesture.last = x;
		gesture.lastY = clientY;
	}

	/* Zoom so that both fingers stay on their times. */
	spread(pointer, x) {
		const before = [...this.pointers.values()].slice(0, 2), { timeline } = this;

		this.pointers.set(pointer, x);
		const after = [...this.pointers.values()].slice(0, 2), { picture } = timeline;
		const apart = ([a, b]) => Math.max(20, Math.abs(a - b));
		const middle = ([a, b]) => (a + b) / 2;
		const time = picture.time(middle(before));

		timeline.zoom(apart(before) / apart(after), time, middle(after) / picture.wide);
	}

	up(event) {
		const { gesture, timeline } = this;

		this.pointers.delete(event.pointerId);
		if (!gesture || this.pointers.size)
			return;
		this.gesture = null;
		if (gesture.selects)
			timeline.endDrag(gesture.moved);
		else if (!gesture.moved && !gesture.pinched)
			timeline.lookAt(event.offsetX, event.offsetY);
	}

	/* The browser scrolls instead. */
	cancel(event) {
		this.pointers.delete(event.pointerId);
		this.gesture = null;
		this.timeline.drag(null);
	}
}
