import { createServiceOpenApi } from "@platform/contract/openapi";
import type { OpenApiDocument } from "@platform/contract/openapi";

/** The result of the local server: the service's output as top-level fields, or `code` and `detail`. */
const LOCAL_RESULT = {
  title: "LocalResult",
  type: "object",
  description:
    "The output of the service as top-level fields (SUCCEEDED), or code and detail (FAILED, UNKNOWN). A deployed service answers the output inside `result`.",
  properties: {
    code: { type: "string" },
    detail: { type: "string" },
    _links: {
      type: "object",
      properties: {
        status: { type: "object", properties: { href: { type: "string", examples: ["/<id>"] } } },
      },
    },
    _embedded: {
      type: "object",
      properties: {
        status: {
          type: "object",
          properties: Object.fromEntries(
            ["id", "status", "created_at", "started_at", "ended_at"].map((name) => [
              name,
              { type: ["string", "null"] },
            ]),
          ),
        },
      },
    },
  },
  additionalProperties: true,
} as const;

export interface LocalOpenApiOptions {
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
}

/** OpenAPI of the local server: the service API with the local form of results. */
export function createLocalOpenApi(options: LocalOpenApiOptions): OpenApiDocument {
  const document = createServiceOpenApi({
    name: options.name,
    version: "local",
    description:
      "Served on this machine by 'platform serve'. Any bearer token is accepted, and none as well.",
    url: "/",
    inputSchema: options.inputSchema,
    tokenUrl: null,
  });
  const result = readObject(document.paths["/{id}/result"]);
  const get = readObject(result["get"]);
  const responses = {
    ...readObject(get["responses"]),
    200: {
      description: "Result, or cause of failure",
      content: { "application/json": { schema: LOCAL_RESULT } },
    },
  };
  return {
    ...document,
    paths: { ...document.paths, "/{id}/result": { ...result, get: { ...get, responses } } },
  };
}

function readObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
