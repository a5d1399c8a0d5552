/** What chance decides, the same for the same seed (Steele, Lea, Flood, SplitMix, in 32 bits). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x2545f491) + 0x1234567 | 0;
  }

  /** A number from 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `count` − 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** A whole number from `least` to `most`. */
  from(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(of: number): boolean {
    return this.next() < of;
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** One of some, each as often as its weight says. */
  weighted<T>(list: readonly (readonly [weight: number, one: T])[]): T {
    let left = this.next() * list.reduce((sum, [weight]) => sum + weight, 0);
    return (list.find(([weight]) => (left -= weight) < 0) ?? list.at(-1)!)[1];
  }

  /** A number that f32 holds. */
  real(least: number, most: number): number {
    return Math.fround(least + (most - least) * this.next());
  }

  /** Some of them, each as likely, in their order. */
  some<T>(list: readonly T[], of: number): T[] {
    return list.filter(() => this.chance(of));
  }
}
