/** What is wrong with one line, without its place and without a final period: thrown by the parsers of a line, caught where file and number are known. */
export class RequirementError extends Error {
  override readonly name = "RequirementError";
}

/** `message` is shown after file, line number and the quoted line. */
export function createRequirementError(message: string): RequirementError {
  return new RequirementError(message);
}
