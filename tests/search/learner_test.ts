import { assert, assertAlmostEquals } from "@std/assert";
import { Lattice } from "../../tuner/search/lattice.ts";
import { Learner } from "../../tuner/search/learner.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";

/** A square of candidates, nothing predicted. */
const CANDIDATES = Array.from({ length: 64 }, (_, i) => ({
  traversal: { name: "square" },
  parameters: { x: i % 8, y: Math.floor(i / 8) },
}));

const learner = ({ prior = CANDIDATES.map(() => 0), span = Infinity } = {}) =>
  new Learner(new Lattice(CANDIDATES), {
    prior,
    span,
    level: "unknown",
    first: 3,
  });

/** What is far faster at x = 5. */
const valueOf = (i: number): number => -Math.abs(i % 8 - 5) / 4;

Deno.test("a learner learns which values are large", () => {
  const one = learner();
  const known = [0, 3, 5, 15, 18, 22, 33, 38, 45, 50, 61];
  for (const i of known) one.learn(i, valueOf(i));
  const { mean } = one.posterior;
  for (const i of known) assertAlmostEquals(mean[i]!, valueOf(i), 0.1);
  assert(mean[29]! > mean[27]! && mean[29]! > mean[31]!, `${mean.slice(24, 32)}`); // y = 3: x = 5, 3, 7
});

Deno.test("what is expected stays expected when the kernel is fitted anew, until it is given up or comes", () => {
  const one = learner(), draw = seededRandom(1);
  const [given, coming] = [9, 36];
  one.expect(given);
  one.expect(coming);
  const order = CANDIDATES.map((_, i) => i).filter((i) => i !== given && i !== coming)
    .sort(() => draw() - 0.5);
  let widest = 0;
  for (const i of order.slice(0, 20)) {
    one.learn(i, valueOf(i) + 0.1 * draw());
    const { posterior } = one;
    widest = Math.max(...order.slice(20).map((other) => posterior.deviation(other)));
    for (const expected of [given, coming]) {
      assert(posterior.deviation(expected) < 0.7 * widest, `after ${i}`);
    }
  }
  const before = one.posterior.deviation(given);
  one.giveUp(given);
  assert(one.posterior.deviation(given) > 1.2 * before);
  one.learn(coming, 7);
  assert(Math.abs(one.posterior.mean[coming]! - 7) < 0.5, `${one.posterior.mean[coming]}`);
});

Deno.test("values that come all at once are learnt as if nobody had asked in between", () => {
  const [one, other] = [learner(), learner()];
  for (let i = 0; i < 60; i += 3) {
    one.learn(i, valueOf(i));
    other.learn(i, valueOf(i));
    void other.posterior.mean;
  }
  // fitted to the same values, from other kernels
  const far = CANDIDATES.map((_, i) => Math.abs(one.posterior.mean[i]! - other.posterior.mean[i]!));
  assert(Math.max(...far) < 0.1, `${far}`);
});

Deno.test("bent values: what is far below the largest neither widens deviations nor drags means down", () => {
  const draw = seededRandom(2);
  const known = CANDIDATES.map((_, i) => i).filter((i) => draw() < 0.5 && i !== 29);
  const [straight, bent] = [learner(), learner({ span: 1.5 })].map((one) => {
    for (const i of known) one.learn(i, valueOf(i) - (i % 3 === 0 ? 4 : 0));
    return one.posterior;
  });
  assert(
    bent!.deviation(29) < 0.6 * straight!.deviation(29),
    `${bent!.deviation(29)}, ${straight!.deviation(29)}`,
  );
  assert(
    Math.min(...straight!.mean) < -2.5 && Math.min(...bent!.mean) > -1.6,
    `${Math.min(...straight!.mean)}, ${Math.min(...bent!.mean)}`,
  );
});

Deno.test("a prior that says nothing of the values costs little, and one that does is used", () => {
  const draw = seededRandom(3), noise = CANDIDATES.map(() => 3 * draw());
  const known = CANDIDATES.map((_, i) => i).filter(() => draw() < 0.4);
  const errorOf = (prior: number[], values: (i: number) => number): number => {
    const one = learner({ prior });
    for (const i of known) {
      one.learn(i, values(i));
      void one.posterior;
    }
    const { mean } = one.posterior, errors = CANDIDATES.map((_, i) => Math.abs(mean[i]! - values(i)));
    return errors.reduce((a, b) => a + b) / errors.length;
  };
  const [without, misled] = [errorOf(CANDIDATES.map(() => 0), valueOf), errorOf(noise, valueOf)];
  assert(misled < 1.2 * without + 0.02, `${misled}, without ${without}`);
  const right = errorOf(noise, (i) => valueOf(i) + noise[i]!);
  assert(right < 1.2 * without + 0.02, `${right}, without ${without}`);
});

Deno.test("a learner sees that multiples of 64 are fast, and expects it of one that it does not know", () => {
  const widths = Array.from({ length: 128 }, (_, i) => ({
    traversal: { name: "wide" },
    parameters: { width: 16 * (i % 16 + 1), y: Math.floor(i / 16) },
  }));
  const isFast = (i: number) => widths[i]!.parameters.width % 64 === 0;
  const one = new Learner(new Lattice(widths), {
    prior: widths.map(() => 0),
    span: Infinity,
    level: "unknown",
    first: 3,
  });
  // 192 is never seen, nor are its neighbours
  for (let i = 0; i < 128; i += 3) {
    if (Math.abs(widths[i]!.parameters.width - 192) > 16) one.learn(i, isFast(i) ? 0 : -1);
  }
  const { mean } = one.posterior, at = (width: number) => mean[width / 16 - 1 + 4 * 16]!;
  assert(at(192) > at(176) + 0.2 && at(192) > at(208) + 0.2, `${[176, 192, 208].map(at)}`);
});
