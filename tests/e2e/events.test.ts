import { afterEach, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { startLocalServer } from "../support/local-server.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;
const PROGRAM = `
import time

def run():
    print("one")
    while True:
        time.sleep(0.1)
`;

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test(
  "an execution that runs in another process is followed at the gateway, line by line, to its end",
  { timeout: 4 * MINUTE },
  async () => {
    world = await createWorld({ role: "gateway,control,builder" });
    await world.start({
      role: "worker",
      flags: ["--worker-cpu", "1", "--worker-memory", "1"],
    });
    const { serviceKey } = await world.deploy(await world.createProject("teller", PROGRAM));
    const consumer = await world.subscribe(serviceKey);
    const { body } = await consumer.start({});
    const response = await fetch(`${consumer.endpoint}${body.id}/events`, {
      headers: { authorization: `Bearer ${consumer.token}` },
    });
    expect(response.status).toBe(200);
    const shown: string[] = [];
    for await (const [event, value] of readEvents(response)) {
      if (Array.isArray(value)) {
        shown.push(...value.map(({ message }) => message));
        // What it has said has been seen while it runs.
        await consumer.call("PUT", `${body.id}/cancel`);
      } else shown.push(value.status ?? event);
    }
    expect(shown.filter((text) => text !== "PENDING" && text !== "RUNNING")).toEqual([
      "one",
      "FAILED",
      "end",
    ]);
    expect(shown).toContain("RUNNING");

    const { origin } = new URL(consumer.endpoint);
    const states: { executionId: string; status: string }[] = [];
    let after = "0";
    // What has just happened comes a moment later.
    while (states.at(-1)?.status !== "FAILED") {
      const feed = await fetch(`${origin}/events?after=${after}`, {
        headers: { authorization: `Bearer ${consumer.token}`, prefer: "wait=60" },
      });
      const { items, cursor } = (await feed.json()) as { items: typeof states; cursor: string };
      states.push(...items);
      after = cursor;
    }
    expect(states.map(({ status }) => status)).toEqual(["PENDING", "RUNNING", "FAILED"]);
    const all = await world.cli(world.directory, "events", "--json");
    expect(JSON.parse(all.stdout)).toMatchObject(states);
  },
);

test("the local server has the feed as well: by pages, by waiting, and as a stream", async () => {
  world = await createWorld();
  const project = await world.createProject("echo", "def run(data: dict):\n    return data\n");
  const local = await startLocalServer(project);
  try {
    const read = async (after: string, prefer = "wait=60") => {
      const page = await fetch(`${local.url}/events?after=${after}`, { headers: { prefer } });
      expect(page.status).toBe(200);
      return (await page.json()) as { items: { executionId: string; status: string }[]; cursor: string };
    };
    const { cursor } = await read("0", "");
    const stream = await fetch(`${local.url}/events?after=${cursor}`, {
      headers: { accept: "text/event-stream" },
    });
    const waiting = read(cursor);
    const started = await request<{ readonly id: string }>("POST", `${local.url}/`, { json: {} });
    const { id } = started.body;
    expect((await waiting).items[0]).toMatchObject({ executionId: id, status: "PENDING", version: "local" });
    const shown: unknown[] = [];
    for await (const [event, value] of readEvents(stream)) {
      if (event !== "change" || Array.isArray(value)) continue;
      shown.push(value.status);
      if (value.status === "SUCCEEDED") break;
    }
    expect(shown).toEqual(["PENDING", "RUNNING", "SUCCEEDED"]);
    expect((await read(cursor, "")).items.map(({ status }) => status)).toEqual(shown);
  } finally {
    await local.stop();
  }
});

type EventData = { readonly status?: string } | { readonly message: string }[];

async function* readEvents({ body }: Response): AsyncGenerator<[string, EventData]> {
  let text = "";
  for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += piece;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/m.exec(event) ?? [];
      if (name !== undefined && data !== undefined) yield [name, JSON.parse(data) as EventData];
    }
  }
}
