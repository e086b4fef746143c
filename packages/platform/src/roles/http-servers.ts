import type { FastifyInstance } from "fastify";
import { createHostCheck } from "@platform/engine/http/host-check";
import { createHttpServer } from "@platform/engine/http/server";
import { refuseOtherMethods } from "@platform/engine/http/methods";
import type { HttpObserver } from "@platform/engine/http/request-observer";
import type { Config } from "../config/config.ts";
import { explainListening } from "../host/listen.ts";
import type { Address } from "../host/listen.ts";
import { EXPOSITION_TYPE } from "../observability/exposition.ts";
import type { PlatformMetrics } from "../observability/platform-metrics.ts";
import type { Shared } from "./shared.ts";

const LOOPBACK = /^(?:localhost|127[.].*|::1)$/;
/** Connections to the port of metrics; more are closed at once. */
const MAX_SCRAPERS = 32;
/** A client that sends its request slowly delays a stop for at most so long. */
const LAST_ANSWERS_WITHIN_MS = 10_000;

/** The two servers of every process, and that of its metrics. All have /healthz and /readyz, whatever the roles. */
export interface HttpServers {
  readonly gateway: FastifyInstance;
  readonly api: FastifyInstance;
  /** @throws StartError when a port is taken */
  readonly listen: () => Promise<void>;
}

/** Creates the servers; they listen when `listen` is called. @param metrics null: there are none */
export function createHttpServers(shared: Shared, metrics: PlatformMetrics | null): HttpServers {
  const gateway = createServer(shared, metrics?.observeHttp("gateway"));
  const api = createServer(shared, metrics?.observeHttp("platform"));
  const watched = metrics === null ? null : createMetricsServer(shared, metrics);
  return {
    gateway,
    api,
    listen: async () => {
      const addresses = listAddresses(shared.config);
      const servers = { gateway, api, metrics: watched };
      for (const name of ["gateway", "api", "metrics"] as const) {
        const [server, address] = [servers[name], addresses[name]];
        if (server === null || address === undefined) continue;
        await explainListening(address, () => server.listen({ host: address.host, port: address.port }));
      }
    },
  };
}

/** Where the servers listen. */
export function listAddresses({ host, gatewayPort, apiPort, metrics }: Config): {
  readonly gateway: Address;
  readonly api: Address;
  readonly metrics?: Address;
} {
  return {
    gateway: { host, port: gatewayPort, flag: "--gateway-port" },
    api: { host, port: apiPort, flag: "--api-port" },
    ...(metrics === null ? {} : { metrics: { ...metrics, flag: "--metrics-port" } }),
  };
}

/** Its own port, so that it is never where callers are. */
function createMetricsServer(
  { logger, closers, readiness, config }: Shared,
  { scrape }: PlatformMetrics,
): FastifyInstance {
  const app = createHttpServer({ logger, ...readiness });
  app.server.maxConnections = MAX_SCRAPERS;
  // Where other hosts reach it, they may know it by any name.
  const host = config.metrics?.host ?? "";
  if (LOOPBACK.test(host))
    app.addHook(
      "onRequest",
      createHostCheck([], () => "Call it as localhost."),
    );
  app.get("/metrics", async (_request, reply) => {
    reply.header("content-type", EXPOSITION_TYPE);
    return scrape();
  });
  refuseOtherMethods(app, [{ method: "GET", path: "/metrics" }]);
  closers.add("metrics server", async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  return app;
}

function createServer(
  { logger, executions, closers, readiness }: Shared,
  observer: HttpObserver | undefined,
): FastifyInstance {
  const app = createHttpServer({
    logger,
    ...readiness,
    ...(observer === undefined ? {} : { observer }),
  });
  closers.add("HTTP server", async () => {
    executions.close();
    const late = setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_WITHIN_MS);
    await app.close().finally(() => clearTimeout(late));
  });
  return app;
}
