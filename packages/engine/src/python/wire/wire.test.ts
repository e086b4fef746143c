import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { MEGABYTE } from "../../base/bytes.ts";
import { decodeEvent, encodeOrder } from "./control-messages.ts";
import type { Order, ZygoteEvent } from "./control-messages.ts";
import { createEventReader } from "./event-reader.ts";
import { createFrameDecoder, encodeFrame } from "./frames.ts";

const ALLOWANCE = 100_000;

interface FrameSample {
  readonly name: string;
  readonly type: number;
  readonly text: string;
  readonly hex: string;
}

interface LineSample {
  readonly name: string;
  readonly from: "node" | "zygote";
  readonly value: unknown;
  readonly line: string;
}

function readSamples<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../../../wire/${name}`, import.meta.url), "utf8")) as T[];
}

const frames = readSamples<FrameSample>("frames.json");
const lines = readSamples<LineSample>("lines.json");

/** An object of so many levels. */
function nest(levels: number): string {
  return `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
}

describe("the golden messages, seen from Node", () => {
  test.each(frames)("prints and parses the frame: $name", (sample) => {
    const bytes = Buffer.from(sample.hex, "hex");
    expect(encodeFrame(sample.type, Buffer.from(sample.text)).toString("hex")).toBe(sample.hex);
    const decoder = createFrameDecoder(() => 1000);
    for (const byte of bytes.subarray(0, -1)) decoder.push(Buffer.from([byte]));
    expect(decoder.next()).toBeNull();
    decoder.push(bytes.subarray(-1));
    expect(decoder.next()).toEqual({ frame: { type: sample.type, payload: Buffer.from(sample.text) } });
    expect(decoder.next()).toBeNull();
  });

  test("frames that come in one chunk are told apart", () => {
    const decoder = createFrameDecoder(() => 1000);
    decoder.push(Buffer.concat(frames.map((sample) => Buffer.from(sample.hex, "hex"))));
    const types = frames
      .map(() => decoder.next())
      .map((step) => (step !== null && "frame" in step ? step.frame.type : null));
    expect(types).toEqual(frames.map((sample) => sample.type));
  });

  test.each([1, 4, 1000])("a frame in parts comes as it came, in chunks of %i", (size) => {
    const bytes = Buffer.concat([
      encodeFrame(16, Buffer.from("{}")),
      encodeFrame(17, Buffer.from("a large result")),
      encodeFrame(18, Buffer.from("behind it")),
    ]);
    const decoder = createFrameDecoder(
      () => 1000,
      (type) => type === 17,
    );
    const seen: unknown[] = [];
    let whole = "";
    for (let at = 0; at < bytes.length; at += size) {
      decoder.push(bytes.subarray(at, at + size));
      for (let step = decoder.next(); step !== null; step = decoder.next()) {
        if ("part" in step) whole += step.part.toString();
        else seen.push("frame" in step ? step.frame.payload.toString() : step);
        if ("part" in step && step.isLast) seen.push(whole);
      }
    }
    expect(seen).toEqual(["{}", { begun: { type: 17, size: 14 } }, "a large result", "behind it"]);
  });

  test("a frame above the limit is refused by its header alone", () => {
    const decoder = createFrameDecoder(() => 10);
    decoder.push(Buffer.from("0000000b11", "hex"));
    expect(decoder.next()).toEqual({ refused: { type: 17, size: 11 } });
  });

  test.each(lines.filter((sample) => sample.from === "node"))("prints the order: $name", (sample) => {
    expect(encodeOrder(sample.value as Order)).toBe(`${sample.line}\n`);
  });

  test.each(lines.filter((sample) => sample.from === "zygote"))("parses the event: $name", (sample) => {
    expect(decodeEvent(sample.line)).toEqual(sample.value);
  });

  test("lines that are no events are dropped, and a line without end is refused", () => {
    const events: ZygoteEvent[] = [];
    let broken = 0;
    const read = createEventReader(
      100,
      (event) => events.push(event),
      () => (broken += 1),
    );
    read(
      Buffer.from('nonsense\n[]\n{"event":"exit","id":"7"}\n{"event":"gone","id":7.5}\n{"event":"go'),
      ALLOWANCE,
    );
    read(Buffer.from('ne","id":7}\n'), ALLOWANCE);
    expect(events).toEqual([{ event: "gone", id: 7 }]);
    read(Buffer.alloc(101, 65), ALLOWANCE);
    read(Buffer.alloc(101, 65), ALLOWANCE);
    expect(broken).toBe(1);
  });

  test("what a zygote says once in its life is heard once: it may be repeated without end", () => {
    const events: string[] = [];
    const read = createEventReader(
      100,
      ({ event }) => events.push(event),
      () => undefined,
    );
    const lines = [
      '{"event":"hello","pid":7}',
      '{"event":"ready","mode":"fork"}',
      '{"event":"unsafe","reason":"because"}',
      '{"event":"failed","code":"A","detail":"b"}',
      '{"event":"probed","input":null,"output":null,"description":null,"mode":"fork"}',
      '{"event":"exit","id":1,"code":0,"signal":null}',
      '{"event":"gone","id":1}',
    ];
    read(Buffer.from(`${lines.join("\n")}\n`.repeat(2)), ALLOWANCE);
    expect(events.join(" ")).toBe("hello ready unsafe failed probed exit gone exit gone");
  });

  test("only so many long lines are read of a zygote as it says long things once; short ones after them are", () => {
    const heard: number[] = [];
    const read = createEventReader(
      MEGABYTE,
      (event) => heard.push(event.event === "exit" ? event.id : -1),
      () => undefined,
    );
    const lines = [1, 2, 3, 4, 5, 6, 7, 8].map((id) =>
      `{"event":"exit","id":${id},"code":0,"signal":null}`.padEnd(id === 8 ? 0 : 100 * 1024),
    );
    read(Buffer.from(`${lines.join("\n")}\n`), 10 * MEGABYTE);
    expect(heard).toEqual([1, 2, 3, 4, 5, 8]);
  });

  test("a frame that comes byte by byte is copied twice, not with each part of it", () => {
    const size = 64 * 1024;
    const concat = vi.spyOn(Buffer, "concat");
    const decoder = createFrameDecoder(() => size);
    for (const byte of encodeFrame(17, Buffer.alloc(size, 65))) decoder.push(Buffer.from([byte]));
    const step = decoder.next();
    const copied = concat.mock.results.map(({ value }) => (value instanceof Buffer ? value.length : 0));
    concat.mockRestore();
    expect(step).toEqual({ frame: { type: 17, payload: Buffer.alloc(size, 65) } });
    expect(copied.reduce((sum, length) => sum + length, 0)).toBeLessThan(4 * size);
  });

  test("lines that are no events are read at a pace too: a chunk of nothing else is not one piece of work", () => {
    const read = createEventReader(
      100,
      () => undefined,
      () => undefined,
    );
    let chunk: Buffer | null = Buffer.alloc(65_536, 10);
    let turns = 0;
    for (; chunk !== null; turns += 1) {
      const { cost, rest } = read(chunk, 64 * 1024);
      expect(cost).toBeLessThan(66 * 1024);
      chunk = rest;
    }
    expect(turns).toBeGreaterThan(100);
  });

  test("a cause that user code wrote past the runner is short, and has no text that cannot be stored", () => {
    const cause = { event: "failed", code: "A\0".repeat(1000), detail: "B\0".repeat(100_000) };
    const event = decodeEvent(JSON.stringify(cause));
    expect(event).toEqual({
      event: "failed",
      code: "A\u{FFFD}".repeat(64),
      detail: `${"B\u{FFFD}".repeat(4000).slice(0, -1)}\u2026`,
      traceback: null,
    });
  });

  test.each(["unsafe", "refused"])("so is the reason of %s", (event) => {
    expect(decodeEvent(JSON.stringify({ event, id: 1, reason: "B\0".repeat(100_000) }))).toMatchObject({
      event,
      reason: `${"B\u{FFFD}".repeat(4000).slice(0, -1)}\u2026`,
    });
  });

  test.each(["input", "output", "description"])(
    "a schema that no code can walk to its end is no %s",
    (name) => {
      const nothing = { input: null, output: null, description: null };
      const event = { event: "probed", ...nothing, mode: "fork", reason: null };
      const say = (levels: number) =>
        decodeEvent(JSON.stringify(event).replace(`"${name}":null`, `"${name}":${nest(levels)}`));
      expect(say(1000)).toMatchObject({ event: "probed" });
      expect(say(1001)).toBeNull();
      expect(say(1_000_000)).toBeNull();
    },
  );

  test.each(["12345678901234567890", "12", '"text"', "[]"])("%s is no schema", (text) => {
    expect(
      decodeEvent(`{"event":"probed","input":${text},"output":null,"description":null,"mode":"fork"}`),
    ).toBeNull();
  });
});
