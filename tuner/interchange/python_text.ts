/**
 * How Python writes values as text: Kernel Tuner's keys are `",".join(str(value) …)`.
 *
 * @module
 */
import type { ParameterValue } from "./recorded_space.ts";

/**
 * A value as Python's `str` writes it. Numbers that are whole are written without a point: JSON does not tell
 * 1.0 from 1.
 */
export function pythonText(value: ParameterValue): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return value;
  // repr: the exponent has two digits at least; JavaScript writes 1e-7 and, unlike Python, 0.00001
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  const plain = !Number.isInteger(value) && exponent < -4 ? value.toExponential() : String(value);
  return plain.replace(/e([+-])(\d)$/, "e$10$2");
}

/** A configuration's key in a cache file. */
export function pythonKey(values: readonly ParameterValue[]): string {
  return values.map(pythonText).join(",");
}

/** Whether a key belongs to these values; numbers may be written otherwise, as 1.0 for 1. */
export function sameKey(key: string, values: readonly ParameterValue[]): boolean {
  if (key === pythonKey(values)) return true;
  const parts = key.split(",");
  return parts.length === values.length && parts.every((part, i) => {
    const value = values[i]!;
    return typeof value === "number"
      ? part.trim() !== "" && Number(part) === value
      : part === pythonText(value);
  });
}
