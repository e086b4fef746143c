/** The example in each client of `examples/tsp`, as its README says: with the listing's input, and a key in the environment. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { subscribe } from "../../tools/platform-client.ts";
import type { Subscription } from "../../tools/platform-client.ts";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { CLIENT_LANGUAGES, buildClient, needClient } from "../support/client-package.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { runOk } from "./tools.ts";

const TSP = join(REPOSITORY, "examples/tsp");
const CITIES = [0, 1, 2, 3].flatMap((x) => [0, 1, 2].map((y) => [x * 10, y * 10]));

describe("the clients of examples/tsp", () => {
  let world: World;
  let subscription: Subscription;
  beforeAll(async () => {
    world = await createWorld({ flags: ["--worker-cpu", "2", "--worker-memory", "4"] });
    const { serviceKey } = await world.deploy(TSP);
    subscription = await subscribe(world.login, serviceKey, "caller");
    const exampleInput = { data: { cities: CITIES }, params: { restarts: 20 } };
    await world.api("PUT", `/services/${serviceKey}/listing`, { title: "Round trips", exampleInput });
  });
  afterAll(() => world?.close());

  test.for(CLIENT_LANGUAGES)("run the example in %s", async (language, { skip }) => {
    const zip = join(world.directory, `${language}.zip`);
    const saved = await world.cli(world.directory, "clients", "tsp", "--language", language, "-o", zip);
    expect([saved.code, saved.stderr]).toEqual([0, expect.stringContaining("Making the client of tsp")]);
    const built = needClient(await buildClient(language, zip, join(world.directory, language)), skip);
    expect(await readFile(join(built.folder, "README.md"), "utf8")).toContain(
      "Types of the service: `Data`, `Params`",
    );
    const { keyId, secret } = subscription;
    const environment = { PLATFORM_ACCESS_KEY_ID: keyId, PLATFORM_ACCESS_KEY_SECRET: secret };
    const output = await runOk(built.example, { cwd: built.folder, environment });
    expect(JSON.parse(output)).toMatchObject({ length: 120, tour: expect.arrayContaining([0, 11]) });
  });
});
