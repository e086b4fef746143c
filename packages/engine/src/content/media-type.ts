const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[^"\\\\\\x00-\\x1f\\x7f-\\uffff]*"))*$`,
);
const MAX_LENGTH = 200;

/** The media type that a caller names where it is one (RFC 9110, section 8.3.1), otherwise that of any bytes. */
export function toMediaType(given: string | undefined): string {
  const text = given?.trim() ?? "";
  return text.length <= MAX_LENGTH && MEDIA_TYPE.test(text) ? text : "application/octet-stream";
}
