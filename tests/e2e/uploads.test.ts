import { createHash, randomBytes } from "node:crypto";
import { Agent } from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openPart, sendTus, toMetadata, uploadByClient } from "../../tools/tus-calls.ts";
import { createSmallDisk, fillDisk, findMountFault, freeDisk } from "../support/small-disk.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;
const MEGABYTE = 1024 * 1024;
/** What a killed process may lose, and more: so much has come for certain when a HEAD says so. */
const SENT_FIRST = 40 * MEGABYTE;
const content = randomBytes(64 * MEGABYTE);
const sha256 = createHash("sha256").update(content).digest("hex");

let world: World | undefined;

afterEach(async () => {
  await world?.close();
  world = undefined;
});

const auth = ({ login }: World) => ({ authorization: `Bearer ${login.personalAccessToken}` });

const portOf = (url: string) => Number(new URL(url).port);

interface Begun {
  readonly poolId: string;
  readonly url: string;
  readonly readOffset: () => Promise<number>;
  /** What is missing, by tus-js-client. */
  readonly goOn: () => Promise<string>;
}

async function begin(here: World): Promise<Begun> {
  const { body: pool } = await here.api<{ id: string }>("POST", "/data-pools", { name: "Maps" });
  const metadata = { dataPoolId: pool.id, filename: "map.bin", sha256 };
  const begun = await sendTus("POST", `${here.platform.apiUrl}/api/uploads`, {
    headers: {
      ...auth(here),
      "upload-length": String(content.length),
      "upload-metadata": toMetadata(metadata),
    },
  });
  const url = `${here.platform.apiUrl}${begun.headers.location}`;
  return {
    poolId: pool.id,
    url,
    readOffset: async () => {
      const { headers } = await sendTus("HEAD", url, { headers: auth(here) });
      return Number(headers["upload-offset"] ?? "-1");
    },
    goOn: () => uploadByClient(content, { uploadUrl: url, headers: auth(here), retryDelays: null }),
  };
}

/** Sends what a HEAD then says has arrived, in part; the connection stays open. */
async function sendFirst(here: World, { url, readOffset }: Begun) {
  // As other clients: who asks for the end of the connection may lose an answer that comes before all is sent.
  const agent = new Agent({ keepAlive: true });
  const part = openPart(url, { ...auth(here), "upload-offset": "0" }, agent);
  part.write(content.subarray(0, SENT_FIRST));
  await expect.poll(readOffset, { timeout: MINUTE }).toBeGreaterThanOrEqual(16 * MEGABYTE);
  return part;
}

async function expectStored(here: World, { poolId }: Begun, fileId: string): Promise<void> {
  const answer = await fetch(`${here.platform.apiUrl}/api/data-pools/${poolId}/files/${fileId}/content`, {
    headers: auth(here),
  });
  const read = Buffer.from(await answer.arrayBuffer());
  expect([read.length, createHash("sha256").update(read).digest("hex")]).toEqual([content.length, sha256]);
}

test(
  "an upload goes on after the platform was killed: what a HEAD says has arrived is there, and the rest follows",
  { timeout: 5 * MINUTE },
  async () => {
    const here = (world = await createWorld());
    const upload = await begin(here);
    const part = await sendFirst(here, upload);
    const said = await upload.readOffset();
    await here.platform.kill();
    await expect(part.answer).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:ECONNRESET|EPIPE)$/u),
    });
    await here.start({
      gatewayPort: portOf(here.platform.gatewayUrl),
      apiPort: portOf(here.platform.apiUrl),
    });
    const offset = await upload.readOffset();
    expect(offset).toBeGreaterThanOrEqual(said);
    expect(offset).toBeLessThanOrEqual(SENT_FIRST);
    await expectStored(here, upload, await upload.goOn());
  },
);

test(
  "an upload that fills the disk is refused with 503, keeps what has arrived, and goes on when there is space",
  { timeout: 5 * MINUTE },
  async ({ skip }) => {
    const mountFault = findMountFault();
    skip(mountFault !== null, `nobody may mount a small disk here: ${mountFault}`);
    const flags = ["--min-free-disk", "0.1"];
    const here = (world = await createWorld({ flags, disk: createSmallDisk("700m") }));
    const upload = await begin(here);
    const part = await sendFirst(here, upload);
    const pid = here.platform.process.pid ?? 0;
    const filler = join(here.dataDirectory, "filler");
    await fillDisk(pid, filler);
    // The guard looks once a second, and the part looks at the guard when it makes its bytes last.
    const readState = async () => await (await fetch(`${here.platform.apiUrl}/readyz`)).text();
    await expect.poll(readState, { timeout: MINUTE }).toContain('"part":"disk"');
    part.write(content.subarray(SENT_FIRST));
    part.end();
    const { status, body } = await part.answer;
    expect([status, (JSON.parse(body) as { code: string }).code]).toEqual([503, "UNAVAILABLE"]);
    await freeDisk(pid, filler);
    await expect.poll(readState, { timeout: MINUTE }).not.toContain('"part":"disk"');
    const offset = await upload.readOffset();
    expect(offset).toBeGreaterThanOrEqual(16 * MEGABYTE);
    expect(offset).toBeLessThan(content.length);
    await expectStored(here, upload, await upload.goOn());
  },
);
