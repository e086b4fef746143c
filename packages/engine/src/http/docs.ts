import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import { refuseOtherMethods } from "./methods.ts";

const ASSETS: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};

/** Nothing is loaded from elsewhere, so the page works offline. Swagger UI sets styles in place. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; script-src 'self'; frame-ancestors 'none'";

/** Where the documentation of one API is served, and what it documents. */
export interface DocsOptions {
  /** Base path of the API, e.g. `/api`, `""`, or a route prefix with parameters. */
  readonly prefix: string;
  /** Returns the OpenAPI document; called for each request, so that it can differ by path. */
  readonly openApi: (request: FastifyRequest) => unknown;
  /** Folder of swagger-ui-dist; the bundle of the CLI includes a copy. */
  readonly assetsDirectory?: string;
}

/** Serves `{prefix}/openapi.json` and the interactive page `{prefix}/docs`. */
export async function registerDocs(app: FastifyInstance, options: DocsOptions): Promise<void> {
  const directory =
    options.assetsDirectory ??
    dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const readAsset = createAssetReader();
  await app.register(
    async (scope) => {
      scope.get("/openapi.json", async (request) => options.openApi(request));
      scope.get("/docs", async (request, reply) => {
        const base = cutFinalSlashes(request.url.split("?")[0] ?? "");
        return reply
          .type("text/html; charset=utf-8")
          .header("content-security-policy", CONTENT_SECURITY_POLICY)
          .send(renderPage(base));
      });
      scope.get("/docs/start.js", async (_request, reply) =>
        reply.type("text/javascript; charset=utf-8").send(START_SCRIPT),
      );
      scope.get<{ Params: { file: string } }>("/docs/:file", async (request, reply) => {
        const type = Object.hasOwn(ASSETS, request.params.file) ? ASSETS[request.params.file] : undefined;
        if (type === undefined) throw new Problem("NOT_FOUND");
        return reply
          .type(type)
          .header("cache-control", "public, max-age=86400")
          .send(await readAsset(join(directory, request.params.file)));
      });
      refuseOtherMethods(
        scope,
        ["/openapi.json", "/docs", "/docs/start.js", "/docs/{file}"].map((path) => ({ method: "GET", path })),
      );
    },
    { prefix: options.prefix },
  );
}

/** Reads each file once: slow clients, which need no login, must not hold 1.5 MB of memory for each request. */
function createAssetReader(): (path: string) => Promise<Buffer> {
  const known = new Map<string, Promise<Buffer>>();
  return (path) => {
    const reading = known.get(path) ?? readFile(path);
    known.set(path, reading);
    reading.catch(() => known.delete(path));
    return reading;
  };
}

/** Not a regular expression: /\/+$/ takes quadratic time, since it tries again from every slash. */
function cutFinalSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function renderPage(base: string): string {
  const href = base.replace(/[^\w./-]/g, "");
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>API</title><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${href}/swagger-ui.css"></head>
<body><div id="docs"></div><script src="${href}/swagger-ui-bundle.js"></script><script src="${href}/start.js"></script></body>
</html>
`;
}

const START_SCRIPT = `SwaggerUIBundle({
  url: location.pathname.replace(/\\/docs\\/*$/, "/openapi.json"),
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
});
`;
