import type { FastifyInstance } from "fastify";
import { createHttpServer } from "@platform/engine/http/server";
import type { Config } from "../config/config.ts";
import { explainListening } from "../host/listen.ts";
import type { Address } from "../host/listen.ts";
import type { Shared } from "./shared.ts";

/** A client that is slow to send its request must not hold a stop up for as long as it may send. */
const LAST_ANSWERS_WITHIN_MS = 10_000;

/** The two servers of every process; both say whether it lives and is ready, whatever its roles. */
export interface HttpServers {
  readonly gateway: FastifyInstance;
  readonly api: FastifyInstance;
  /** @throws StartError when a port is taken */
  readonly listen: () => Promise<void>;
}

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
  const app = createHttpServer({ logger, findFaults: readiness.findFaults });
  closers.add("HTTP server", async () => {
    executions.close();
    const late = setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_WITHIN_MS);
    await app.close().finally(() => clearTimeout(late));
  });
  return app;
}
