import { expect, test } from "vitest";
import { EventTooLong, readEvents } from "./event-stream.ts";
import type { ServerEvent } from "./event-stream.ts";

/** One byte at a time, or in other pieces. */
function stream(text: string, size: number, onCancel = () => undefined): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, (at += size)));
    },
    cancel: onCancel,
  });
}

async function readAll(text: string, size: number): Promise<readonly ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(stream(text, size))) events.push(event);
  return events;
}

const TEXT =
  ': hello\n\nevent: state\ndata: {"é":1}\n\nid: 7\r\nevent: log\r\ndata: a\r\ndata:b\r\n\r\ndata\rid\r\rretry: 1\n\ndata: cut off';

test.each([1, 2, 3, 1000])(
  "events are read whatever the pieces in which they come: of %i bytes",
  async (size) => {
    expect(await readAll(TEXT, size)).toEqual([
      { event: "state", data: '{"é":1}', id: null },
      { event: "log", data: "a\nb", id: "7" },
      { event: "message", data: "", id: "" },
    ]);
  },
);

test("a server that sends an event without end is refused", async () => {
  const piece = new TextEncoder().encode("data: ".padEnd(1024 * 1024, "x"));
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece) });
  await expect(readEvents(endless).next()).rejects.toThrow(EventTooLong);
});

test("who stops reading closes the connection", async () => {
  let cancelled = 0;
  const events = readEvents(
    stream("data: 1\n\ndata: 2\n\n", 3, () => {
      cancelled += 1;
      return undefined;
    }),
  );
  await events.next();
  await events.return(undefined);
  expect(cancelled).toBe(1);
});
