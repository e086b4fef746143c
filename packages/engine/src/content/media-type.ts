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

/** By the end of a name; those that data comes in, and that people look at. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["json", "application/json"],
  ["csv", "text/csv"],
  ["txt", "text/plain"],
  ["log", "text/plain"],
  ["md", "text/markdown"],
  ["html", "text/html"],
  ["xml", "application/xml"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["svg", "image/svg+xml"],
  ["pdf", "application/pdf"],
  ["zip", "application/zip"],
  ["gz", "application/gzip"],
  ["tar", "application/x-tar"],
  ["parquet", "application/vnd.apache.parquet"],
]);

/** The media type of a file by its name, otherwise that of any bytes. */
export function chooseMediaType(name: string): string {
  const end = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return TYPES.get(end) ?? "application/octet-stream";
}
