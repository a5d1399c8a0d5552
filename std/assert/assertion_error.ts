/** What every failed assertion throws. */
export class AssertionError extends Error {
  override name = "AssertionError";

  /**
   * @param message what was expected and what was found
   * @param options the cause, if one is known
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** `text`, ended by the caller's own words where there are any. */
export function withReason(text: string, msg?: string): string {
  return msg ? `${text}: ${msg}` : `${text}.`;
}
