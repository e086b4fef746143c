/** Of a name that the sender has chosen, or the schema. */
const MAX_NAME_LENGTH = 50;
/** Names of a schema in one text. */
const MAX_NAMES = 20;

/** What is wrong with an object that has a property which its schema does not know, after the name of the object. @param hint of `listKnown`, or another */
export function describeUnknownProperty(name: string, hint: string): string {
  return `must not have the property ${name.slice(0, MAX_NAME_LENGTH)}${hint}`;
}

/** The names that a schema knows, as the end of a sentence: all of a schema of ours, the first of a long one; empty where it knows none. */
export function listKnown(names: readonly string[]): string {
  if (names.length === 0) return "";
  const shown = names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH));
  const left = names.length - shown.length;
  return `; known are ${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}
