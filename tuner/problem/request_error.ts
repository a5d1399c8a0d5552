/**
 * The request makes no sense: a bad option, problem, file or grid. The message, one or two lines, says what is wanted
 * and what was found; a command that throws it ends with exit code 2.
 */
export class RequestError extends RangeError {
  override name = "RequestError";
}

/** What throws the error of a request to do something, with what is wanted of it and what was found. */
export function refuserOf(action: string): (wanted: string, found: string) => never {
  return (wanted, found) => {
    throw new RequestError(`Cannot ${action}: ${wanted}: found ${found}`);
  };
}
