/**
 * The request makes no sense: a bad option, problem, file or grid. The message, one or two lines, says what is wanted
 * and what was found; a command that throws it ends with exit code 2.
 */
export class RequestError extends RangeError {
  override name = "RequestError";
}
