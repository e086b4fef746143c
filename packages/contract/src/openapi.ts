import type { TSchema } from "typebox";
import type { Operation, OperationResponse, OperationTable } from "./operation.ts";
import { PROBLEMS, ProblemSchema } from "./problems.ts";
import type { ProblemCode } from "./problems.ts";
import { SERVICE_API } from "./service-api.ts";

type Json = Readonly<Record<string, unknown>>;

/** An OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.0). */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Json[];
  readonly paths: Readonly<Record<string, Json>>;
  readonly components: Json;
}

export interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Base URL of all paths, absolute or relative to the document. */
  readonly url: string;
  readonly security: Readonly<Record<string, Json>>;
  readonly operations: OperationTable;
}

/** Writes an operation table down as OpenAPI. */
export function createOpenApi(options: OpenApiOptions): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, operation] of Object.entries(options.operations)) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describeOperation(id, operation);
  }
  return {
    openapi: "3.1.0",
    info: { title: options.title, version: options.version, description: options.description },
    servers: [{ url: options.url }],
    security: Object.keys(options.security).map((name) => ({ [name]: [] })),
    paths,
    components: { schemas: { Problem: toPlain(ProblemSchema) }, securitySchemes: options.security },
  };
}

export interface ServiceOpenApiOptions {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly url: string;
  /** Derived from the hints of `run`: an object schema with `data` and `params`; null where it has none. */
  readonly inputSchema: Json | null;
  /** Null for the local server, which accepts any bearer or none. */
  readonly tokenUrl: string | null;
}

/** The service API of one version, with the types that its `run` declares. */
export function createServiceOpenApi(options: ServiceOpenApiOptions): OpenApiDocument {
  const document = createOpenApi({
    title: options.name,
    version: options.version,
    description: options.description,
    url: options.url,
    operations: SERVICE_API,
    security:
      options.tokenUrl === null
        ? {}
        : {
            accessToken: {
              type: "oauth2",
              flows: { clientCredentials: { tokenUrl: options.tokenUrl, scopes: {} } },
            },
          },
  });
  return options.inputSchema === null ? document : withInputSchema(document, options.inputSchema);
}

/** Puts the declared types of `data` and `params` in the place of "any object"; their `$defs` become components. */
function withInputSchema(document: OpenApiDocument, inputSchema: Json): OpenApiDocument {
  const { $defs, properties } = toPlain(inputSchema) as { $defs?: Json; properties?: Json };
  const text = JSON.stringify(document.paths);
  const paths = JSON.parse(text) as Record<
    string,
    {
      post?: {
        requestBody?: { content: Record<string, { schema: { properties: Record<string, unknown> } }> };
      };
    }
  >;
  const start = paths["/"]?.post?.requestBody?.content["application/json"]?.schema;
  if (start === undefined) return document;
  for (const key of ["data", "params"]) {
    if (properties?.[key] !== undefined) start.properties[key] = moveReferences(properties[key]);
  }
  const schemas = { ...(document.components["schemas"] as Json), ...(moveReferences($defs ?? {}) as Json) };
  return {
    ...document,
    paths,
    components: { ...document.components, schemas },
  };
}

function moveReferences(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function describeOperation(id: string, operation: Operation): Json {
  return {
    operationId: id,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    parameters: [
      ...describeParameters("path", operation.params),
      ...describeParameters("query", operation.query),
      ...describeParameters("header", operation.headers),
    ],
    ...describeBody(operation),
    responses: {
      ...mapEntries(operation.responses, describeResponse),
      ...describeProblems(operation.problems),
    },
  };
}

function describeParameters(
  place: "path" | "query" | "header",
  schema: TSchema | undefined,
): readonly Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = toPlain(schema) as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name: place === "header" ? toHeaderName(name) : name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function describeBody(operation: Operation): Json {
  if (operation.bodyType === "application/zip") {
    return {
      requestBody: {
        required: true,
        content: { "application/zip": { schema: { type: "string", contentMediaType: "application/zip" } } },
      },
    };
  }
  return operation.body === undefined
    ? {}
    : {
        requestBody: { required: true, content: { "application/json": { schema: toPlain(operation.body) } } },
      };
}

function describeResponse(response: OperationResponse): Json {
  return {
    description: response.description,
    ...(response.headers === undefined
      ? {}
      : {
          headers: mapEntries(response.headers, (description) => ({
            description,
            schema: { type: "string" },
          })),
        }),
    ...(response.schema === undefined
      ? {}
      : { content: { "application/json": { schema: toPlain(response.schema) } } }),
  };
}

/** One response a status, naming the codes that may come with it. */
function describeProblems(codes: readonly ProblemCode[]): Json {
  const byStatus = new Map<number, string[]>();
  for (const code of codes) {
    const lines = byStatus.get(PROBLEMS[code].status) ?? [];
    byStatus.set(PROBLEMS[code].status, [...lines, `\`${code}\`: ${PROBLEMS[code].detail}`]);
  }
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } };
  return Object.fromEntries(
    [...byStatus].map(([status, lines]) => [status, { description: lines.join("\n\n"), content }]),
  );
}

function mapEntries<V, R>(object: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

function toHeaderName(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (part) => part.toUpperCase());
}

function toPlain(schema: TSchema | Json): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
