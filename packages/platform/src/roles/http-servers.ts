import type { FastifyInstance } from "fastify";
import { createHttpServer } from "@platform/engine/http/server";
import type { Config } from "../config/config.ts";
import { explainListening } from "../host/listen.ts";
import type { Address } from "../host/listen.ts";
import type { Shared } from "./shared.ts";

/** A client that sends its request slowly delays a stop for at most so long. */
const LAST_ANSWERS_WITHIN_MS = 10_000;

/** The two servers of every process. Both have /healthz and /readyz, whatever the roles. */
export interface HttpServers {
  readonly gateway: FastifyInstance;
  readonly api: FastifyInstance;
  /** @throws StartError when a port is taken */
  readonly listen: () => Promise<void>;
}

/** Creates the servers; they listen when `listen` is called. */
export function createHttpServers(shared: Shared): HttpServers {
  const gateway = createServer(shared);
  const api = createServer(shared);
  return {
    gateway,
    api,
    listen: async () => {
      const addresses = listAddresses(shared.config);
      for (const [server, address] of [[gateway, addresses.gateway] as const, [api, addresses.api] as const])
        await explainListening(address, () => server.listen({ host: address.host, port: address.port }));
    },
  };
}

/** Where the two servers listen. */
export function listAddresses({
  host,
  gatewayPort,
  apiPort,
}: Config): Readonly<Record<"gateway" | "api", Address>> {
  return {
    gateway: { host, port: gatewayPort, flag: "--gateway-port" },
    api: { host, port: apiPort, flag: "--api-port" },
  };
}

function createServer({ logger, executions, closers, readiness }: Shared): FastifyInstance {
  const app = createHttpServer({ logger, ...readiness });
  closers.add("HTTP server", async () => {
    executions.close();
    const late = setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_WITHIN_MS);
    await app.close().finally(() => clearTimeout(late));
  });
  return app;
}
