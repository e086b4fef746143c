import { createOpenApi } from "./openapi.ts";
import type { OpenApiDocument, OpenApiServer } from "./openapi.ts";
import type { OperationTable } from "./operation.ts";
import { SERVICE_API } from "./service-api.ts";

type Json = Readonly<Record<string, unknown>>;

export interface ServiceOpenApiOptions {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly server: OpenApiServer;
  /** Derived from the hints of `run`: an object schema with `data` and `params`; null where it has none. */
  readonly inputSchema: Json | null;
  /** Null for the local server, which accepts any bearer or none. */
  readonly tokenUrl: string | null;
  /** Default: those of a deployed version. */
  readonly operations?: OperationTable;
}

/** The service API of one version, with the types that its `run` declares. */
export function createServiceOpenApi(options: ServiceOpenApiOptions): OpenApiDocument {
  const { name, version, description, server, tokenUrl, inputSchema, operations = SERVICE_API } = options;
  const flows = { clientCredentials: { tokenUrl, scopes: {} } };
  const accessToken = {
    type: "oauth2",
    description: "Access token, which key id and secret of an access key are exchanged for",
    flows,
  };
  const document = createOpenApi({
    title: name,
    version,
    description,
    server,
    security: tokenUrl === null ? {} : { accessToken },
    groups: [
      { name: "Executions", description: "Start the service, follow executions, fetch results", operations },
    ],
  });
  return inputSchema === null ? document : withInputSchema(document, inputSchema);
}

/** Puts the declared types of `data` and `params` in the place of "any object"; their `$defs` become components. */
function withInputSchema(document: OpenApiDocument, inputSchema: Json): OpenApiDocument {
  const { StartRequest: start, ...own } = document.components.schemas;
  if (start === undefined) throw new Error("A service's document has no StartRequest.");
  const definitions = asObject(inputSchema["$defs"]);
  const names = nameComponents(Object.keys(definitions), new Set(["StartRequest", ...Object.keys(own)]));
  const properties: Record<string, unknown> = { ...asObject(start["properties"]) };
  for (const key of ["data", "params"]) {
    const declared = asObject(inputSchema["properties"])[key];
    if (declared !== undefined) properties[key] = adaptSchema(declared, names);
  }
  const schemas = {
    ...own,
    StartRequest: { ...start, properties },
    ...Object.fromEntries(
      Object.entries(definitions).map(([name, definition]) => [
        names.get(name) ?? name,
        asObject(adaptSchema(definition, names)),
      ]),
    ),
  };
  return { ...document, components: { ...document.components, schemas } };
}

/** A component's name for each type of the user: of the characters that OpenAPI allows, and none that is taken. */
function nameComponents(definitions: readonly string[], taken: Set<string>): ReadonlyMap<string, string> {
  return new Map(
    definitions.map((definition) => {
      const base = definition.replace(/[^A-Za-z0-9._-]/g, "_");
      let name = base;
      for (let number = 2; taken.has(name); number += 1) name = `${base}${number}`;
      taken.add(name);
      return [definition, name];
    }),
  );
}

const DEFINITION = "#/$defs/";

/** A schema of the user as a part of the document. */
function adaptSchema(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return moveReference(value, names);
  if (Array.isArray(value)) return value.map((item) => adaptSchema(item, names));
  if (typeof value !== "object" || value === null) return value;
  return openObject(
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, adaptSchema(item, names)])),
  );
}

const MEMBERS = ["properties", "additionalProperties", "patternProperties"];

/** An object with any members says so: of `type: object` alone, generators of TypeScript make one that has none. */
function openObject(schema: Json): Json {
  const isPlain = schema["type"] === "object" && !MEMBERS.some((keyword) => Object.hasOwn(schema, keyword));
  return isPlain ? { ...schema, additionalProperties: true } : schema;
}

/** Not `$ref` alone has references: `discriminator` has a map of them. */
function moveReference(text: string, names: ReadonlyMap<string, string>): string {
  if (!text.startsWith(DEFINITION)) return text;
  const [pointer = "", ...rest] = text.slice(DEFINITION.length).split("/");
  const name = names.get(decodePointer(pointer));
  return name === undefined ? text : ["#/components/schemas", name, ...rest].join("/");
}

/** One part of a JSON pointer in a URI fragment (RFC 6901 6). */
function decodePointer(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
}

function asObject(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
