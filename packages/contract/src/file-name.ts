/** A file name has at most so many characters, and so many bytes in UTF-8: what file systems take. */
const LIMITS = { characters: 200, bytes: 255 } as const;

/** Control characters, those that turn the direction of what follows, and those that are not seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/u;

/**
 * Why a file of a data pool or of a result cannot have this name, as a sentence; null: it can. What can is one name in every
 * file system, and looks like what it is: it is never repaired.
 */
export function explainFileName(name: string): string | null {
  if (name === "") return "A file name has at least one character.";
  // Before anything that takes time by its length.
  if (
    name.length > LIMITS.bytes ||
    Array.from(name).length > LIMITS.characters ||
    countBytes(name) > LIMITS.bytes
  )
    return `A file name has at most ${LIMITS.characters} characters, and ${LIMITS.bytes} bytes in UTF-8.`;
  if (/[/\\]/u.test(name)) return "A file name has no / and no \\: a data pool has no folders.";
  if (UNSEEN.test(name)) return "A file name has no control characters, and none that are not seen.";
  if (name !== name.normalize("NFC")) return "A file name is in Unicode's normal form C.";
  if (/^\s|\s$/u.test(name)) return "A file name neither begins nor ends with a space.";
  // Also "." and "..".
  if (name.endsWith(".")) return "A file name does not end with a period.";
  return null;
}

/** What makes two names equal in one place: letters without case. */
export function foldName(name: string): string {
  return name.normalize("NFC").toLowerCase().toUpperCase().toLowerCase().normalize("NFC");
}

function countBytes(name: string): number {
  return new TextEncoder().encode(name).length;
}
