/** The message of anything that was thrown. */
export function getMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of what was thrown: of the operating system or TLS (`ENOENT`), or a SQLSTATE; undefined when it has none. */
export function getCode(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}
