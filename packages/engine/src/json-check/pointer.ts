/** A JSON Pointer (RFC 6901) by its parts, unescaped; none: the whole document. */
export type JsonPointer = readonly string[];

const MAX_PARTS = 64;

/** The parts of a pointer as callers write it, or what is wrong with it, for people. */
export function parsePointer(text: string): JsonPointer | { readonly fault: string } {
  if (text === "") return [];
  if (!text.startsWith("/")) return { fault: 'must be empty or begin with "/"' };
  const parts = text.slice(1).split("/");
  if (parts.length > MAX_PARTS)
    return { fault: `has ${parts.length} parts; at most ${MAX_PARTS} are accepted` };
  if (/~(?![01])/.test(text)) return { fault: 'must write "~" as "~0" and "/" within a name as "~1"' };
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
