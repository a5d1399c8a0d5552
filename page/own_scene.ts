/**
 * The scene of an equation that a visitor wrote.
 *
 * @module
 */
import {
  drops,
  fromMiddle,
  JOINED,
  PLANE,
  type Preset,
  type Scene,
  WAVES,
  ZERO,
} from "../examples/scenes.ts";
import { insulated, stencilOf, value } from "../mod.ts";

/** What may lie beyond the sides of an equation that no scene is like. */
const SIDES: Scene["sides"] = [
  ["zeros", ZERO],
  ["closed: the slope is 0", insulated()],
  ["held at 0", value(0)],
  JOINED,
];

/**
 * The scene of an equation of the visitor's own: with the look of another scene, where it has what that scene needs; else its
 * first field is drawn and painted.
 *
 * @param definition the equation's
 */
export function ownScene(definition: unknown, like: Scene): Scene {
  const stencil = stencilOf(definition as Parameters<typeof stencilOf>[0]), { update, dimensions } = stencil;
  const [low, high] = update.ranges?.[0] ?? [0, 1], [name = ""] = update.fields;
  if (dimensions === 1) throw new RangeError("Equations of two or three dimensions are wanted here");
  const names = [
    update.fields,
    ...[update.materials, update.profiles ?? [], update.sources ?? []]
      .map((all) => all.map(({ name }) => name)),
  ].flat();
  const { paints, shown, starts = {}, parameters = {}, source } = like,
    own = { stencil, title: "Your equation" };
  const wanted = [
    paints,
    shown,
    ...Object.keys({ ...starts, ...parameters }),
    ...(source ? [source[0]] : []),
  ];
  const isAlike = (dimensions === 2) === (like.depth === 1) &&
    wanted.every((one) => one === "frequency" || names.includes(one));
  if (isAlike) return { ...like, ...own };
  const drop: Preset = (y, x, size) => low + (high - low) * Math.exp(-150 * fromMiddle(y, x, size).away ** 2);
  return {
    ...PLANE,
    ...own,
    depth: dimensions === 2 ? 1 : 32,
    sides: stencil.surface
      ? SIDES.slice(0, 1)
      : stencil.boundaries?.[0] === "zero"
      ? SIDES
      : [JOINED, ...SIDES.slice(0, 3)],
    help: "An equation of your own: its first field is drawn and painted.",
    formula: "",
    shown: name,
    range: [low, high],
    ...(low < 0 && WAVES),
    paints: name,
    brushes: [[`${name} = ${low}`, low], [`${name} = ${high}`, high]],
    presets: [["a drop", drop], ["drops", drops(low, high)]],
  };
}
