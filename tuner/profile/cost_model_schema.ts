/**
 * The cost model of a shared step as a profile has it.
 *
 * @module
 */
import * as z from "zod";

const finite = z.number("a number");
const positive = finite.gt(0, "a number above 0");
const notNegative = finite.min(0, "a number >= 0");
const counting = z.int("a whole number").min(1, "a whole number >= 1");
const line = z.strictObject({ a: notNegative, b: notNegative });
const residuals = z.array(finite, "a list of relative residuals");

/**
 * What R was chosen by: the fitted costs of a shared step (B2R, Eq. 1–4), how far the fits lie from what was
 * measured, and the time of a step over R. Times are nanoseconds; residuals are (predicted − measured) / measured.
 */
export const costModelSchema = z.strictObject({
  coefficients: z.strictObject({
    cpu: z.strictObject({
      updateNs: notNegative,
      stepNs: notNegative,
      missNs: notNegative,
      cachedCells: notNegative,
    }),
    gpu: z.strictObject({
      updateNs: notNegative,
      stepNs: notNegative,
      passNs: notNegative,
      byteNs: notNegative,
    }),
    /** Host time of a copy of x bytes: a·x + b. */
    unpack: line,
    pack: line,
    schedule: z.strictObject({
      submitNs: notNegative,
      timerNs: notNegative,
      waitNs: notNegative,
      contention: notNegative,
      starvation: notNegative,
    }),
  }),
  residuals: z.strictObject({
    cpu: residuals,
    gpu: residuals,
    unpack: residuals,
    pack: residuals,
    together: residuals,
  }),
  curve: z.array(z.strictObject({
    exchangeEvery: counting,
    cpuSlices: counting,
    predictedNs: positive,
    /** null where this R was only predicted. */
    measuredNs: positive.nullable(),
  })),
});
