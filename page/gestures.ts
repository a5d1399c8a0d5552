/// <reference lib="dom" />
/**
 * What fingers, a mouse and keys do on the picture. With the tool "touch" a tap sets off a source, or paints where there are
 * none; a drag paints; holding still, or the right button, places a receiver. Any other tool does its own at every touch.
 *
 * @module
 */
import type { Place } from "../examples/scenes.ts";

/** What can be done at a place. */
export type Tool = "paint" | "source" | "receiver";

/** What gestures lead to. */
export interface Gestures {
  /** The tool that the visitor chose. */
  readonly tool: () => Tool | "touch";
  /** What a tap does with the tool "touch". */
  readonly tapped: () => Tool;
  /** Uses a tool at a place; `from` is where a stroke comes from. */
  readonly use: (tool: Tool, place: Place, from?: Place) => void;
  /** A stroke begins, and ends. */
  readonly begin: () => void;
  readonly end: () => void;
  /** The cross that arrow keys move has a new place. */
  readonly point: (cursor: Place) => void;
}

/** Milliseconds of holding still that place a receiver, and pixels within which a finger counts as still. */
const HOLD_MS = 500, STILL = 8;

/** Thousandths that an arrow key moves the cross: down and across. */
const ARROWS: Readonly<Record<string, Place>> = {
  ArrowUp: [-10, 0],
  ArrowDown: [10, 0],
  ArrowLeft: [0, -10],
  ArrowRight: [0, 10],
};

const within = (at: number): number => Math.round(Math.min(1000, Math.max(0, at)));

/** Listens to a frame from now on. */
export function listen(frame: HTMLElement, { tool, tapped, use, begin, end, point }: Gestures): void {
  /** A touch of which it is open what it becomes. */
  let press: { readonly event: PointerEvent; readonly hold: ReturnType<typeof setTimeout> } | undefined;
  let last: Place | undefined, cursor: Place = [500, 500];
  const placeOf = ({ clientX, clientY }: PointerEvent): Place => {
    const { left, top, width, height } = frame.getBoundingClientRect();
    return [within(1000 * (clientY - top) / height), within(1000 * (clientX - left) / width)];
  };
  const paint = (place: Place): void => {
    if (last === undefined) begin();
    use("paint", place, last);
    last = place;
  };
  const decided = (): PointerEvent | undefined => {
    const event = press?.event;
    clearTimeout(press?.hold);
    press = undefined;
    return event;
  };
  frame.onpointerdown = (event) => {
    frame.setPointerCapture(event.pointerId);
    const chosen = event.button === 2 ? "receiver" : tool(), place = placeOf(event);
    if (chosen === "paint") paint(place);
    else if (chosen !== "touch") use(chosen, place);
    else press = { event, hold: setTimeout(() => decided() && use("receiver", place), HOLD_MS) };
  };
  frame.onpointermove = (event) => {
    const from = press?.event;
    if (from && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) > STILL) {
      paint(placeOf(decided()!));
    }
    if (last !== undefined) paint(placeOf(event));
  };
  frame.onpointerup = frame.onpointercancel = ({ type }) => {
    const tap = decided();
    if (tap && type === "pointerup") use(tapped(), placeOf(tap));
    if (last !== undefined) end();
    last = undefined;
  };
  frame.oncontextmenu = (event) => event.preventDefault();
  frame.onkeydown = (event) => {
    const [down, across] = ARROWS[event.key] ?? [0, 0], by = event.shiftKey ? 5 : 1, chosen = tool();
    if (event.key === "Enter") use(chosen === "touch" ? tapped() : chosen, cursor);
    else if (event.key in ARROWS) cursor = [within(cursor[0] + by * down), within(cursor[1] + by * across)];
    else return;
    point(cursor);
    event.preventDefault();
  };
}
