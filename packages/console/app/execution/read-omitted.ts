interface OmittedFile {
  readonly name: string;
  readonly reason: string;
}

/** What the runner says of files that were left out, in the metadata of a result as JSON text; null: there is none. */
export function readOmitted(metadata: string | null): readonly OmittedFile[] {
  const { _omittedFiles: omitted } = Object(JSON.parse(metadata ?? "null")) as {
    readonly _omittedFiles?: unknown;
  };
  if (!Array.isArray(omitted)) return [];
  return omitted.flatMap((one: unknown) => {
    const { name, reason } = Object(one) as { readonly name?: unknown; readonly reason?: unknown };
    return typeof name === "string" && typeof reason === "string" ? [{ name, reason }] : [];
  });
}
