import { reasonOf } from "../platform.ts";

export { reasonOf };

/**
 * A profile or journal that cannot be used: it is unreadable, damaged, of another version or of another device, or
 * the file cannot be written. The message is one line that says where, what was wanted and what was found.
 */
export class ProfileError extends Error {
  /** The name of the class. */
  override name = "ProfileError";
}

/** An error as one line: itself if it is one already, else with this message. */
export function oneLine(error: unknown, message: string): ProfileError {
  return error instanceof ProfileError ? error : new ProfileError(message, { cause: error });
}

/** Why a file could not be read, in a few words. */
export function whyUnreadable(error: unknown): string {
  if (isMissing(error)) return "there is no such file";
  return (error as { code?: unknown } | null)?.code === "EISDIR" ? "it is a folder" : reasonOf(error);
}

/** Whether there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === "ENOENT";
}

/** Whether the disk failed, is full or has become read-only, of which nobody's request is to blame. */
export function isDiskFailure(error: unknown): boolean {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown };
  return ["ENOSPC", "EDQUOT", "EIO", "EROFS"].includes(`${code}`) || (!!cause && isDiskFailure(cause));
}
