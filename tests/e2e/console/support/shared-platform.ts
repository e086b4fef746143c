import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process, { env } from "node:process";
import { expectOk, request } from "../../../../tools/platform-client.ts";
import { createWorld } from "../../../support/world.ts";
import type { World } from "../../../support/world.ts";

/*
 * One platform for all stories that ask for nothing of their own: to start one takes five seconds of a processor. It is started by the
 * process of the test run, which outlives those of the files, when the first of them asks.
 */

/** Where the process of the test run is asked. */
const ASKED_AT = "PLATFORM_TEST_SHARED_PLATFORM";
const LOG = "/log";
const FLAGS = ["--drain-seconds", "1", "--sign-up", "open", "--webhook-open", "127.0.0.1"];

/** What a file of stories has of the platform. */
export interface SharedPlatform extends Pick<World, "dataDirectory"> {
  readonly apiUrl: string;
  readonly gatewayUrl: string;
  /** The last lines of its log. */
  readonly readLog: () => Promise<string>;
}

/** For vitest's globalSetup: all files can ask from now on, until what this answers is called. */
export async function offerSharedPlatform(): Promise<() => Promise<void>> {
  let started: Promise<World> | undefined;
  const server = createServer(({ url }, response) => {
    started ??= start();
    started.then(
      ({ dataDirectory, platform: { apiUrl, gatewayUrl, readLog } }) =>
        response.end(url === LOG ? readLog() : JSON.stringify({ dataDirectory, apiUrl, gatewayUrl })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  env[ASKED_AT] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    delete env[ASKED_AT];
    server.close();
    await (await started?.catch(() => undefined))?.close();
  };
}

/** The platform, which has been started. @throws Error where it could not be */
export async function findSharedPlatform(): Promise<SharedPlatform> {
  const askedAt = env[ASKED_AT] ?? "";
  const found = await expectOk(request<Omit<SharedPlatform, "readLog">>("GET", askedAt));
  return { ...found, readLog: () => expectOk(request<string>("GET", `${askedAt}${LOG}`)) };
}

async function start(): Promise<World> {
  const world = await createWorld({ flags: FLAGS });
  // A test run that is ended from outside awaits nothing.
  process.once("exit", () => world.platform.process.kill());
  return world;
}
