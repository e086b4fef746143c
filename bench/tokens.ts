/**
 * `node bench/tokens.ts`: access tokens a second of one gateway process, with its database and the load on the same machine: 200 clients
 * (a proxy on this host names them) with a key each, since more than its limit for a key and a client would be refused.
 */
import { stdout } from "node:process";
import autocannon from "autocannon";
import { createWorld } from "../tests/support/world.ts";
import { expectOk } from "../tools/platform-client.ts";

const CLIENTS = 200;
const SECONDS = 5;
const ROUNDS = 3;
const WANTED = 1_000;

const world = await createWorld({ role: "gateway,control" });
try {
  const clients = [];
  for (let client = 1; client <= CLIENTS; client++) {
    const name = `client ${client}`;
    const { id } = await expectOk(world.api<{ id: string }>("POST", "/applications", { name }));
    const path = `/applications/${id}/access-keys`;
    const { keyId, secret } = await expectOk(world.api<{ keyId: string; secret: string }>("POST", path));
    clients.push({
      method: "POST" as const,
      path: "/token",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        authorization: `Basic ${btoa(`${keyId}:${secret}`)}`,
        "x-forwarded-for": `198.51.100.${client}`,
      },
      body: "grant_type=client_credentials",
    });
  }
  for (let round = 1; round <= ROUNDS; round++) {
    const {
      "2xx": made,
      non2xx,
      duration,
      latency,
    } = await autocannon({
      url: world.platform.gatewayUrl,
      connections: 10,
      duration: SECONDS,
      requests: clients,
    });
    const perSecond = Math.round(made / duration);
    stdout.write(
      `${perSecond >= WANTED ? "  met" : "UNMET"}  ${perSecond} tokens/s (>= ${WANTED}), ${non2xx} refused, p50 ${latency.p50} ms, p99 ${latency.p99} ms\n`,
    );
    // Until the limit has all of its burst again.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
  }
} finally {
  await world.close();
}
