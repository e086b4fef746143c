import type { FastifyInstance, FastifyRequest } from "fastify";
import { TRY_PATH, TRY_PROJECT_PATH } from "@platform/contract/local-try";
import type { LocalTry } from "@platform/contract/local-try";
import { Problem } from "@platform/contract/problems";
import { isLocalName, nameOf } from "@platform/engine/http/host-check";
import { refuseOtherMethods } from "@platform/engine/http/methods";
import { createNonce, describePage, PAGE_HEADERS } from "@platform/engine/pages/page-headers";
import { readBuild } from "@platform/engine/pages/read-build";
import type { BuiltPages } from "@platform/engine/pages/read-build";
import { sendFile } from "@platform/engine/pages/send-file";
import { getMessage } from "@platform/engine/base/thrown";
import type { LoadedVersion } from "./local-versions.ts";

/*
 * The page that tries the project, built by the console's package: the same form from the schema as subscribers will see. Whoever is at
 * this machine may open it, and nobody else: it shows the example and the traceback of a broken import, and a page that came over a network
 * without TLS is not what this server has sent.
 */

/** Builds the page, in a checkout. */
const BUILD_COMMAND = "npm run build -w packages/console";

/** What the page is made of. */
interface TryPageOptions {
  /** Of the built page. It need not exist. */
  readonly directory: string;
  /** The project as it is served now. */
  readonly describe: () => Promise<LocalTry>;
}

/** Serves the page, or one that says why it is not there. */
export async function registerTryPage(app: FastifyInstance, options: TryPageOptions): Promise<void> {
  const read = createReader(options.directory);
  app.get(TRY_PATH, async (request, reply) => {
    const nonce = createNonce();
    reply.headers({ ...PAGE_HEADERS, ...describePage(nonce) });
    const stranger = explainStranger(request);
    if (stranger !== null) return reply.code(403).send(writeNote("Only on this machine", stranger, null));
    const pages = await read();
    return typeof pages === "string"
      ? reply
          .code(404)
          .send(
            writeNote(
              "This page is not built",
              `${pages} Run this in its folder, and load the page again:`,
              BUILD_COMMAND,
            ),
          )
      : reply.send(pages.index.join(nonce));
  });
  app.get(TRY_PROJECT_PATH, async (request, reply) => {
    requireNeighbour(request);
    return reply.headers({ ...PAGE_HEADERS, "cache-control": "no-store" }).send(await options.describe());
  });
  app.get(`${TRY_PATH}/*`, async (request, reply) => {
    requireNeighbour(request);
    const pages = await read();
    const [path = ""] = request.url.split("?", 1);
    const file = typeof pages === "string" ? undefined : pages.files.get(path);
    return file === undefined ? reply.callNotFound() : sendFile(request, reply.headers(PAGE_HEADERS), file);
  });
  refuseOtherMethods(
    app,
    [TRY_PATH, TRY_PROJECT_PATH, `${TRY_PATH}/*`].map((path) => ({ method: "GET", path })),
  );
}

/** Reads the build once it is there, so that a server which runs already need not be started again. Gives the reason where there is none. */
function createReader(directory: string): () => Promise<BuiltPages | string> {
  let known: BuiltPages | null = null;
  return async () => {
    try {
      known ??= await readBuild(directory);
      return known ?? "It is a part of the console, which this checkout has not built yet.";
    } catch (error) {
      return `Its files do not belong together: ${getMessage(error)}.`;
    }
  };
}

/** What the page is told of a version. */
export function describeTry(
  { project, target, failure, inputSchema, example }: LoadedVersion,
  reloadFault: string | null,
): LocalTry {
  return {
    name: project.name,
    version: target.id,
    inputSchema,
    example: example.texts,
    exampleNotes: example.faults,
    failure:
      failure === null ? null : { code: failure.code, detail: failure.detail, traceback: failure.traceback },
    reloadFault,
  };
}

/** @throws Problem FORBIDDEN */
function requireNeighbour(request: FastifyRequest): void {
  const stranger = explainStranger(request);
  if (stranger !== null) throw new Problem("FORBIDDEN", stranger);
}

/** Why the page is not for who asks; null: it is. The name is that of the machine, too: what passes requests on has others. */
function explainStranger({ socket, headers, url }: FastifyRequest): string | null {
  const name = nameOf(headers.host ?? "");
  const { remoteAddress = "", localAddress, localPort } = socket;
  const isHere = isLoopback(remoteAddress) || remoteAddress === localAddress;
  if (isHere && isLocalName(name)) return null;
  const own = `http://localhost:${localPort ?? ""}${url.split("?", 1)[0] ?? ""}`;
  return `This page shows the project's example and errors, and starts executions, without a login and without TLS. It is answered on the machine of 'platform serve' only: open ${own} there. The service itself is open to others under --host and --allow-host.`;
}

function isLoopback(address: string): boolean {
  return /^(?:::ffff:)?127\./u.test(address) || address === "::1";
}

function writeNote(title: string, text: string, command: string | null): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><main><h1>${title}</h1>
<p>${escapeHtml(text)}</p>
${command === null ? "" : `<pre>${command}</pre>`}
<p>The <a href="/docs">documentation of the API</a> is there in any case.</p></main></body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
