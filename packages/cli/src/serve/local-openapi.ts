import { LOCAL_SERVICE_API } from "@platform/contract/local-service-api";
import type { OpenApiDocument } from "@platform/contract/openapi";
import { createServiceOpenApi } from "@platform/contract/service-openapi";

/** What differs between projects. */
export interface LocalOpenApiOptions {
  /** Name of the service. */
  readonly name: string;
  /** JSON Schema of the input, from the type hints of `run`; null if there are none. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
}

/** Creates the OpenAPI document of the local server: the service API with the local form of results. */
export function createLocalOpenApi(options: LocalOpenApiOptions): OpenApiDocument {
  return createServiceOpenApi({
    name: options.name,
    version: "local",
    description: "Served on this machine by 'platform serve'. Any bearer token is accepted; none is needed.",
    server: { url: "/", description: "This machine" },
    inputSchema: options.inputSchema,
    tokenUrl: null,
    operations: LOCAL_SERVICE_API,
  });
}
