import type { TSchema } from "typebox";
import { createComponents } from "./openapi-components.ts";
import type { Components, Json } from "./openapi-components.ts";
import { BODY_TYPES, listProblems } from "./operation.ts";
import type { Operation, OperationResponse, OperationTable } from "./operation.ts";
import { PROBLEMS, ProblemSchema } from "./problems.ts";

/** An OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.0). */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: Json;
  readonly servers: readonly OpenApiServer[];
  readonly tags: readonly Json[];
  readonly security: readonly Json[];
  readonly paths: Readonly<Record<string, Json>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly securitySchemes?: Json };
}

/** Where the described API is served. */
export interface OpenApiServer {
  /** Base URL of all paths, absolute or relative to the document. */
  readonly url: string;
  readonly description: string;
  readonly variables?: Readonly<Record<string, { readonly default: string; readonly description: string }>>;
}

/** A group (tag) of operations: a section of the documentation, often a class of generated clients. */
interface OperationGroup {
  readonly name: string;
  readonly description: string;
  readonly operations: OperationTable;
}

/** Content of a document besides what operation tables say. */
export interface OpenApiOptions {
  readonly title: string;
  /** Version of the described API, not of OpenAPI. */
  readonly version: string;
  /** Markdown. */
  readonly description: string;
  readonly server: OpenApiServer;
  /** Security schemes, by name. A request needs one of them; empty: none is needed. */
  readonly security: Readonly<Record<string, Json>>;
  readonly groups: readonly OperationGroup[];
}

const ANY_TYPE = "*/*";
const LICENSE = { name: "Apache-2.0", identifier: "Apache-2.0" };
const CONTACT = { name: "The operator of this platform" };

/**
 * Creates the OpenAPI document of operation tables.
 *
 * @throws Error if two different schemas have the same title
 */
export function createOpenApi(options: OpenApiOptions): OpenApiDocument {
  const { title, version, description, security, groups } = options;
  const components = createComponents();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const group of groups) {
    for (const [id, operation] of Object.entries(group.operations)) {
      const path = (paths[operation.path] ??= {});
      path[operation.method.toLowerCase()] = {
        operationId: id,
        tags: [group.name],
        ...describeOperation(operation, components),
      };
    }
  }
  return {
    openapi: "3.1.0",
    info: { title, version, description, contact: CONTACT, license: LICENSE },
    servers: [options.server],
    tags: groups.map((group) => ({ name: group.name, description: group.description })),
    security: Object.keys(security).map((name) => ({ [name]: [] })),
    paths,
    components: {
      schemas: components.schemas(),
      ...(Object.keys(security).length === 0 ? {} : { securitySchemes: security }),
    },
  };
}

function describeOperation(operation: Operation, components: Components): Json {
  return {
    summary: operation.summary,
    description: operation.description,
    ...(operation.allows === "public" ? { security: [] } : {}),
    parameters: [
      ...describeParameters("path", operation.params, components),
      ...describeParameters("query", operation.query, components),
      ...describeParameters("header", operation.headers, components),
    ],
    ...describeBody(operation, components),
    ...describePreferred(operation),
    responses: {
      ...mapEntries(listOrdinary(operation.responses), (response) => describeResponse(response, components)),
      ...(operation.answerMode === "content" ? describeContent(operation.responses, components) : {}),
      ...(operation.answerMode === "events" ? describeEvents(operation.responses) : {}),
      ...(operation.answerMode === "json-or-events" ? describeBoth(operation.responses, components) : {}),
      ...describeProblems(operation, components),
    },
  };
}

function describeParameters(
  place: "path" | "query" | "header",
  schema: TSchema | undefined,
  components: Components,
): readonly Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, TSchema & { readonly description?: string }>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name: place === "header" ? toHeaderName(name) : name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(property.description === undefined ? {} : { description: property.description }),
    schema: components.refer(property),
  }));
}

function describeBody(operation: Operation, components: Components): Json {
  if (operation.bodyMode === "stream" || operation.bodyMode === "file")
    return { requestBody: { required: true, ...describeBytes(BODY_TYPES[operation.bodyMode] ?? ANY_TYPE) } };
  return operation.body === undefined
    ? {}
    : {
        requestBody: {
          required: operation.bodyMode !== "optional",
          ...describeJson(operation.body, components),
        },
      };
}

function describeResponse(response: OperationResponse, components: Components): Json {
  const headers = mapEntries(response.headers ?? {}, (description) => ({
    description,
    schema: { type: "string" },
  }));
  return {
    description: response.description,
    ...(response.headers === undefined ? {} : { headers }),
    ...(response.schema === undefined ? {} : describeJson(response.schema, components)),
  };
}

/** Answers to ordinary requests. */
function listOrdinary(responses: Operation["responses"]): Operation["responses"] {
  return Object.fromEntries(
    Object.entries(responses).filter(([, { preference }]) => preference === undefined),
  );
}

/** Schemas where they are used: linters do not see what an extension refers to. */
const IN_PLACE: Components = { refer: (schema) => ({ ...schema }), schemas: () => ({}) };

/** Answers to requests with a preference, by the preference and the status. */
function describePreferred({ responses }: Operation): Json {
  const preferred: Record<string, Json> = {};
  for (const [status, response] of Object.entries(responses)) {
    const { preference } = response;
    if (preference === undefined) continue;
    preferred[preference] = { ...preferred[preference], [status]: describeResponse(response, IN_PLACE) };
  }
  return Object.keys(preferred).length === 0 ? {} : { "x-preferred-responses": preferred };
}

/**
 * The answers of a row that answers content; its own text is that of 200, and its schema where the
 * content is JSON. A range of JSON has no content: openapi-generator writes clients that do not
 * compile where one answer is JSON and another one a file.
 */
function describeContent(responses: Operation["responses"], components: Components): Json {
  const schema = responses[200]?.schema;
  const [whole, range] =
    schema === undefined
      ? [describeBytes(ANY_TYPE), describeBytes(ANY_TYPE)]
      : [describeJson(schema, components), {}];
  return {
    200: { description: responses[200]?.description ?? "", ...whole },
    206: { description: "The range that was asked for", ...range },
    304: { description: "The caller has this content, as If-None-Match says" },
  };
}

/** The answer of a row that answers events: text (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
/** Each event of a stream: its fields, of which `data` is JSON text. */
const EVENT: Json = {
  type: "object",
  properties: { event: { type: "string" }, data: { type: "string" }, id: { type: "string" } },
};

function describeEvents(responses: Operation["responses"]): Json {
  return {
    200: {
      ...responses[200],
      content: { "text/event-stream": { schema: EVENT } },
    },
  };
}

function describeBoth(responses: Operation["responses"], components: Components): Json {
  const [json, events] = [responses[200], describeEvents(responses)["200"] as Json];
  if (json?.schema === undefined) throw new Error("A row that answers JSON or events has a schema of 200.");
  const described = describeResponse(json, components);
  return {
    200: { ...described, content: { ...(described["content"] as Json), ...(events["content"] as Json) } },
  };
}

function describeBytes(type: string): Json {
  return { content: { [type]: { schema: { type: "string", format: "binary" } } } };
}

/** One response per status; its description lists the problem codes with that status. */
function describeProblems(operation: Operation, components: Components): Json {
  const byStatus = new Map<number, string[]>();
  for (const code of listProblems(operation)) {
    const lines = byStatus.get(PROBLEMS[code].status) ?? [];
    byStatus.set(PROBLEMS[code].status, [...lines, `\`${code}\`: ${PROBLEMS[code].detail}`]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, lines]) => [
      status,
      { description: lines.join("\n\n"), ...describeJson(ProblemSchema, components) },
    ]),
  );
}

function describeJson(schema: TSchema, components: Components): Json {
  return { content: { "application/json": { schema: components.refer(schema) } } };
}

function mapEntries<V, R>(object: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

function toHeaderName(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (part) => part.toUpperCase());
}
