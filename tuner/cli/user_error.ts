/**
 * The request was wrong: a bad option, file or grid. Its message, one or two lines, says what was wanted and
 * what was found; the command ends with exit code 2.
 */
export class UserError extends Error {
  override name = "UserError";
}
