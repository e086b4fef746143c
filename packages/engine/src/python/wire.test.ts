import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createEventReader, decodeEvent, encodeOrder } from "./control-lines.ts";
import type { Order, ZygoteEvent } from "./control-lines.ts";
import { createFrameDecoder, encodeFrame } from "./frames.ts";
import { INTERPRETER } from "./testing/fixture.ts";

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
  return JSON.parse(readFileSync(new URL(`../../wire/${name}`, import.meta.url), "utf8")) as T[];
}

const frames = readSamples<FrameSample>("frames.json");
const lines = readSamples<LineSample>("lines.json");

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
    const reader = createEventReader(
      100,
      (event) => events.push(event),
      () => (broken += 1),
    );
    reader.push(Buffer.from('nonsense\n[]\n{"event":"exit","id":"7"}\n{"event":"go'));
    reader.push(Buffer.from('ne","id":7}\n'));
    expect(events).toEqual([{ event: "gone", id: 7 }]);
    reader.push(Buffer.alloc(101, 65));
    reader.push(Buffer.alloc(101, 65));
    expect(broken).toBe(1);
  });
});

test("the Python half passes its own tests", async () => {
  const cwd = fileURLToPath(new URL("../../runner", import.meta.url));
  const { stderr } = await promisify(execFile)(
    INTERPRETER,
    ["-B", "-m", "unittest", "discover", "-s", "tests", "-t", "."],
    { cwd },
  );
  expect(stderr).toMatch(/^Ran [1-9]\d* tests? in [\s\S]*OK/mu);
});
