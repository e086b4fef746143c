/** A JSON Schema, or a part of one: its author's, so nothing of its shape is to be trusted. */
export type Schema = Readonly<Record<string, unknown>>;

/** Whether it is a schema at all, and not true, false or something else. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is no schema allows anything, as an empty one does. */
export function asSchema(value: unknown): Schema {
  return isSchema(value) ? value : {};
}

/** The definition of the same document that a schema refers to; null: it refers to none. Nothing is fetched. */
export function findDefinition(root: Schema, { $ref }: Schema): Schema | null {
  const name = typeof $ref === "string" ? /^#\/\$defs\/([^/]+)$/u.exec($ref)?.[1] : undefined;
  const definitions = root["$defs"];
  if (name === undefined || !isSchema(definitions) || !Object.hasOwn(definitions, name)) return null;
  const found = definitions[name];
  return isSchema(found) ? found : null;
}
