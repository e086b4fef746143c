import { createOpenApi } from "../openapi.ts";
import type { OpenApiDocument } from "../openapi.ts";
import { PLATFORM_API } from "./platform-api.ts";

/** Below which path of the platform API's origin its operations lie. */
export const PLATFORM_API_PREFIX = "/api";

/** The platform API's description, as served at `/api/openapi.json` and as checked in. */
export function createPlatformOpenApi(): OpenApiDocument {
  return createOpenApi({
    title: "Platform API",
    version: "1",
    description: "Services, versions, applications, access keys, subscriptions and jobs of an organisation.",
    url: PLATFORM_API_PREFIX,
    operations: PLATFORM_API,
    security: {
      bearer: { type: "http", scheme: "bearer", description: "Personal access token" },
      authToken: {
        type: "apiKey",
        in: "header",
        name: "X-Auth-Token",
        description: "Personal access token",
      },
    },
  });
}
