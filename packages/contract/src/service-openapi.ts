import type { Json } from "./openapi-components.ts";
import { createOpenApi } from "./openapi.ts";
import type { OpenApiDocument, OpenApiServer } from "./openapi.ts";
import type { OperationTable } from "./operation.ts";
import { decodePointer } from "./schemas.ts";
import { SERVICE_API } from "./service-api.ts";

/** What differs between the documents of versions. */
export interface ServiceOpenApiOptions {
  /** Name of the service. */
  readonly name: string;
  /** MAJOR.MINOR.PATCH, or `local`. */
  readonly version: string;
  readonly description: string;
  readonly server: OpenApiServer;
  /** Derived from the type hints of `run`: a JSON Schema of an object with `data` and `params`; null if there are no hints. */
  readonly inputSchema: Json | null;
  /** URL of the token endpoint; null for the local server, which needs no token. */
  readonly tokenUrl: string | null;
  /** Default: `SERVICE_API`. */
  readonly operations?: OperationTable;
}

/**
 * Creates the OpenAPI document of one version, with the input types that its `run` declares.
 *
 * @throws Error if two different schemas have the same title
 */
export function createServiceOpenApi(options: ServiceOpenApiOptions): OpenApiDocument {
  const { name, version, description, server, tokenUrl, inputSchema, operations = SERVICE_API } = options;
  const flows = { clientCredentials: { tokenUrl, scopes: {} } };
  const accessToken = {
    type: "oauth2",
    description: "Access token; obtained in exchange for the key id and secret of an access key",
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

/** Replaces "any object" by the declared types of `data` and `params`; their `$defs` become components. */
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

/** Maps each type of the user to a name of a component: only characters that OpenAPI allows, and no name in `taken`. */
function nameComponents(definitions: readonly string[], taken: Set<string>): ReadonlyMap<string, string> {
  // Thousands of names may become the same one: each continues to count where the one before it stopped.
  const counts = new Map<string, number>();
  return new Map(
    definitions.map((definition) => {
      const base = definition.replace(/[^A-Za-z0-9._-]/g, "_") || "_";
      let number = counts.get(base) ?? 1;
      let name = number === 1 ? base : `${base}${number}`;
      for (; taken.has(name); name = `${base}${number}`) number += 1;
      counts.set(base, number);
      taken.add(name);
      return [definition, name];
    }),
  );
}

const DEFINITION = "#/$defs/";

/** Converts a schema of the user for use in the document. */
function adaptSchema(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return moveReference(value, names);
  if (Array.isArray(value)) return value.map((item) => adaptSchema(item, names));
  if (typeof value !== "object" || value === null) return value;
  return openObject(
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, adaptSchema(item, names)])),
  );
}

const MEMBERS = ["properties", "additionalProperties", "patternProperties"];

/** Adds `additionalProperties` to objects without declared members: from `type: object` alone, TypeScript generators make an empty type. */
function openObject(schema: Json): Json {
  const isPlain = schema["type"] === "object" && !MEMBERS.some((keyword) => Object.hasOwn(schema, keyword));
  return isPlain ? { ...schema, additionalProperties: true } : schema;
}

/** Applies to every string, because references occur not only in `$ref`: `discriminator` has a map of them. */
function moveReference(text: string, names: ReadonlyMap<string, string>): string {
  if (!text.startsWith(DEFINITION)) return text;
  const [pointer = "", ...rest] = text.slice(DEFINITION.length).split("/");
  const name = names.get(decodePointer(pointer));
  return name === undefined ? text : ["#/components/schemas", name, ...rest].join("/");
}

function asObject(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
