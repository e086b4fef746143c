import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execPath } from "node:process";
import { ensureNode18 } from "../../packages/cli/src/testing/node18.ts";
import { subscribe } from "../../tools/platform-client.ts";
import type { Subscription } from "../../tools/platform-client.ts";
import type { ClientLanguage, NotBuilt } from "../support/client-package.ts";
import type { World } from "../support/world.ts";
import { startDriver } from "./drivers.ts";
import type { Driver } from "./drivers.ts";
import { openRelay } from "./relay.ts";
import type { Relay } from "./relay.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

/** Beyond the 30 seconds of one long poll. */
const LONG_SECONDS = 32;

/** What the clients call: doubles, or does what `act` says. */
export const PROGRAM = `
import os, time
from dataclasses import dataclass

@dataclass
class Data:
    act: str
    number: int = 0
    seconds: float = 0

@dataclass
class Params:
    factor: int = 2

@dataclass
class Output:
    number: int
    text: str

def run(data: Data, params: Params) -> Output:
    if data.act == "raise":
        raise ValueError("no such thing")
    if data.act == "sleep":
        print("began", flush=True)
        time.sleep(data.seconds)
    if data.act == "file":
        with open(os.path.join(os.environ["OUTPUT_DIRECTORY"], "tour 1.csv"), "w") as file:
            file.write("Köln,7542")
    if data.act == "digits":
        return Output(12345678901234567890, "")
    return Output(data.number * params.factor, "0123456789" * 500_000 if data.act == "big" else "")
`;

/** The table's columns. */
export const LANGUAGES: readonly { readonly name: string; readonly language: ClientLanguage }[] = [
  { name: "Python", language: "python" },
  { name: "JavaScript", language: "javascript" },
  { name: "Java", language: "java" },
  ...(IS_FULL_LENGTH ? [{ name: "JavaScript on Node.js 18", language: "javascript" as const }] : []),
];

/** A client in a language, with an application of its own, behind a relay of its own. */
export interface Subject {
  readonly driver: Driver;
  readonly relay: Relay;
  readonly subscription: Subscription;
  /** How a client is made for a subscription. */
  readonly through: (subscription: Subscription) => Readonly<Record<string, string>>;
  /** An execution that takes longer than a long poll, which is waited for since the beginning. */
  readonly long: { readonly id: string; readonly ended: Promise<unknown> };
}

/** A client of the service `promising`, downloaded and built. */
export async function createSubject(
  world: World,
  serviceKey: string,
  { name, language }: (typeof LANGUAGES)[number],
): Promise<Subject | NotBuilt> {
  const subscription = await subscribe(world.login, serviceKey, name);
  const folder = join(world.directory, name.replaceAll(" ", "-"));
  await mkdir(folder);
  const node = name.endsWith("18") ? await ensureNode18() : execPath;
  const driver = await startDriver(
    language,
    await download({ world, serviceKey, language, folder }),
    folder,
    node,
  );
  if ("reason" in driver) return driver;
  const relay = await openRelay(world.platform.gatewayUrl);
  const through = ({ endpointUrl, keyId, secret }: Subscription) => ({
    endpoint: endpointUrl.replace(new URL(endpointUrl).origin, relay.url),
    keyId,
    secret,
  });
  await driver.ask("open", through(subscription));
  const { id } = await driver.ask<{ id: string }>("start", { data: { act: "sleep", seconds: LONG_SECONDS } });
  const ended = driver.ask("wait", { id });
  ended.catch(() => undefined);
  return { driver, relay, subscription, through, long: { id, ended } };
}

interface Wanted {
  readonly world: World;
  readonly serviceKey: string;
  readonly language: ClientLanguage;
  readonly folder: string;
}

/** From the address of the service's page; the Python one by the command line. */
async function download({ world, serviceKey, language, folder }: Wanted): Promise<string> {
  const file = join(folder, "client.zip");
  if (language === "python") {
    const { code, stderr } = await world.cli(
      folder,
      "clients",
      "promising",
      "--language",
      language,
      "-o",
      file,
    );
    if (code !== 0) throw new Error(stderr);
    return file;
  }
  const response = await fetch(
    `${world.platform.apiUrl}/api/marketplace/${serviceKey}/versions/1.0.0/clients/${language}`,
    { headers: { authorization: `Bearer ${world.login.personalAccessToken}` } },
  );
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  await writeFile(file, new Uint8Array(await response.arrayBuffer()));
  return file;
}
