import type { AddressInfo } from "node:net";
import type { Executions } from "@platform/engine/executions/executions";
import type { MemoryFeed } from "@platform/engine/executions/memory-feed";
import { registerDocs } from "@platform/engine/http/docs";
import { createHostCheck } from "@platform/engine/http/host-check";
import { refuseOtherOrigins } from "@platform/engine/http/origin-check";
import { localPresenter } from "@platform/engine/http/presenters";
import { createHttpServer } from "@platform/engine/http/server";
import { registerServiceApi } from "@platform/engine/http/service-api";
import type { FaultInjection } from "./inject-faults.ts";
import { registerLocalFeed } from "./local-feed.ts";
import { createLocalOpenApi } from "./local-openapi.ts";
import type { LocalPolicy } from "./local-policy.ts";
import { createLocalReceipts } from "./local-receipts.ts";
import { LOCAL_JOB_OWNER } from "./local-service.ts";
import type { LocalVersions } from "./local-versions.ts";
import type { Reloads } from "./reload-all.ts";
import type { ServerLogger } from "./server-logger.ts";
import { describeTry, registerTryPage } from "./try-page.ts";

/** Where the server listens, and who may call it. */
interface AppOptions {
  readonly logger: ServerLogger;
  readonly options: {
    readonly host: string;
    readonly port: number;
    readonly allowedHosts: readonly string[];
    readonly docsDirectory?: string;
    readonly tryDirectory?: string;
  };
}

/** The HTTP server of the local server. */
export type LocalApp = ReturnType<typeof createHttpServer>;

/** What it answers with. */
interface AppParts {
  readonly executions: Executions;
  readonly versions: LocalVersions;
  /** Null: there is none. */
  readonly policy: LocalPolicy | null;
  readonly faults: FaultInjection;
  readonly feed: MemoryFeed;
  readonly reloads: Reloads;
}

/** Creates it with all of its routes; it does not listen yet. */
export async function createLocalApp(
  { options, logger }: AppOptions,
  { executions, versions, policy, faults, feed, reloads }: AppParts,
): Promise<LocalApp> {
  const app = createHttpServer({ logger });
  app.addHook(
    "onRequest",
    createHostCheck(
      [options.host, ...options.allowedHosts],
      (name) => `If the name is yours, start the server with --allow-host ${name}.`,
    ),
  );
  app.addHook("onRequest", refuseOtherOrigins);
  faults.addHooks(app);
  const receipts = createLocalReceipts(versions, () => describeUrl(app, options));
  receipts.registerKeys(app);
  await registerLocalFeed(app, feed);
  await registerServiceApi(app, {
    prefix: "",
    executions,
    receipts,
    presenter: localPresenter,
    authenticate: () => null,
    ownerOf: () => LOCAL_JOB_OWNER,
    targetOf: async () => {
      const { target } = await versions.current();
      return policy === null ? target : { ...target, service: policy.service() };
    },
    baseOf: () => "",
  });
  await registerDocs(app, {
    prefix: "",
    openApi: async () => {
      const { project, target } = await versions.current();
      return createLocalOpenApi({ name: project.name, inputSchema: target.inputSchema });
    },
    ...(options.docsDirectory === undefined ? {} : { assetsDirectory: options.docsDirectory }),
  });
  if (options.tryDirectory !== undefined)
    await registerTryPage(app, {
      directory: options.tryDirectory,
      describe: async () => describeTry(await versions.current(), reloads.findFault()),
    });
  return app;
}

/** Its base URL, without a final slash; `port` counts until it listens. */
export function describeUrl(
  app: LocalApp,
  { host, port }: Pick<AppOptions["options"], "host" | "port">,
): string {
  const address = app.server.address();
  const bound = isAddress(address) ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}
