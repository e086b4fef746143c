/** What is wrong with one line, without its place: thrown by the parsers of a line, caught where file and number are known. */
export class RequirementFault extends Error {
  override readonly name = "RequirementFault";
}

export function createFault(message: string): RequirementFault {
  return new RequirementFault(message);
}
