import { resolve } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "@platform/engine/base/logger";
import { isPageWanted } from "@platform/engine/pages/choose-encoding";
import { createNonce, describePage } from "@platform/engine/pages/page-headers";
import { readBuild } from "@platform/engine/pages/read-build";
import type { BuiltPages } from "@platform/engine/pages/read-build";
import { sendFile } from "@platform/engine/pages/send-file";
import { describeHeaders } from "./console-headers.ts";
import type { ConsoleUrls } from "./console-headers.ts";

/*
 * The console at the port of the platform API. What its build lists is served from memory, so that no path of a request becomes the name
 * of a file. The console has its own URLs: every other path is its page, if a browser asks for one and nothing of the platform is there.
 */

/** Builds the console, in the platform's folder. */
export const BUILD_COMMAND = "npm run build -w packages/console";
/** Where that writes. */
export const CONSOLE_DIRECTORY = resolve(import.meta.dirname, "../../../console/dist");

/** What the console is served with. */
export interface ConsoleOptions extends ConsoleUrls {
  /** Of the built console. */
  readonly directory: string;
  readonly logger: Pick<Logger, "warn">;
}

/** First segments of paths that are no page of the console, whatever is behind them. */
const OTHERS: ReadonlySet<string> = new Set(["api", "assets", "device", "healthz", "readyz"]);

/**
 * Serves the console, or a page that says how to build it. To be called when the server has its other routes.
 *
 * @returns whether there is a console
 */
export async function registerConsole(app: FastifyInstance, options: ConsoleOptions): Promise<boolean> {
  const { directory, logger } = options;
  const headers = describeHeaders(options);
  const console = await readBuild(directory).catch((error: unknown) => {
    logger.warn({ err: error, directory }, "the console is not served: build it again");
    return null;
  });
  app.get("/*", (request, reply) => {
    const [path = ""] = request.url.split("?", 1);
    const file = console?.files.get(path);
    if (file !== undefined) return sendFile(request, reply.headers(headers), file);
    return isPage(request) ? sendPage(reply.headers(headers), console) : reply.callNotFound();
  });
  return console !== null;
}

function isPage({ headers, params, url }: FastifyRequest): boolean {
  // Decoded once, as the routes of the platform are found.
  const path = (params as { readonly "*": string })["*"];
  const [first = ""] = path.split("/", 1);
  return url.startsWith("/") && !OTHERS.has(first) && isPageWanted(headers.accept);
}

function sendPage(reply: FastifyReply, console: BuiltPages | null): FastifyReply {
  const nonce = createNonce();
  reply.headers(describePage(nonce));
  return console === null ? reply.code(404).send(NOT_BUILT) : reply.send(console.index.join(nonce));
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>No console</title></head>
<body><main><h1>The console is not built</h1>
<p>The platform is running, and its <a href="/api/docs">API</a> works. To get the console, run this in the platform's folder, and start the platform again:</p>
<pre>${BUILD_COMMAND}</pre>
</main></body>
</html>
`;
