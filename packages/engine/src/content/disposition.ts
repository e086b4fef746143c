/** Has a meaning in a quoted string or a path, or is not ASCII. */
const UNSAFE = /[^\w .-]/gu;
/** What `encodeURIComponent` leaves and RFC 8187 does not allow. */
const NOT_ENCODED = /['()*]/g;

/** Half of a character: it has no bytes in UTF-8. */
const HALF = /\p{Surrogate}/gu;

/** A Content-Disposition (RFC 6266) with which every program saves the content under this name, and no browser shows it. */
export function describeAttachment(name: string): string {
  const encoded = encodeURIComponent(name.replace(HALF, "\uFFFD")).replace(
    NOT_ENCODED,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${name.replace(UNSAFE, "_")}"; filename*=UTF-8''${encoded}`;
}
