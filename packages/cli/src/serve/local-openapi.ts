import { LOCAL_FEED_API } from "@platform/contract/feed";
import { LOCAL_SERVICE_API } from "@platform/contract/local-service-api";
import type { OpenApiDocument } from "@platform/contract/openapi";
import { createServiceOpenApi } from "@platform/contract/service-openapi";
import type { ServiceOpenApiOptions } from "@platform/contract/service-openapi";

/** Creates the OpenAPI document of the local server: the service API of this name, with the local form of results. */
export function createLocalOpenApi({
  name,
  inputSchema,
}: Pick<ServiceOpenApiOptions, "name" | "inputSchema">): OpenApiDocument {
  return createServiceOpenApi({
    name,
    version: "local",
    description: "Served on this machine by 'platform serve'. Any bearer token is accepted; none is needed.",
    server: { url: "/", description: "This machine" },
    inputSchema,
    tokenUrl: null,
    operations: { ...LOCAL_SERVICE_API, ...LOCAL_FEED_API },
  });
}
