import { LOCAL_SERVICE_API } from "@platform/contract/local-service-api";
import type { OpenApiDocument } from "@platform/contract/openapi";
import { createServiceOpenApi } from "@platform/contract/service-openapi";

export interface LocalOpenApiOptions {
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
}

/** OpenAPI of the local server: the service API with the local form of results. */
export function createLocalOpenApi(options: LocalOpenApiOptions): OpenApiDocument {
  return createServiceOpenApi({
    name: options.name,
    version: "local",
    description:
      "Served on this machine by 'platform serve'. Any bearer token is accepted, and none as well.",
    server: { url: "/", description: "This machine" },
    inputSchema: options.inputSchema,
    tokenUrl: null,
    operations: LOCAL_SERVICE_API,
  });
}
