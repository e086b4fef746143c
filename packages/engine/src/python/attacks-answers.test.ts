import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import type { Fixture } from "../testing/python-fixture.ts";

/* A run holds its three connections, and may write to them whatever it likes. */

const PREFIX = `
import array, json, os, socket, struct, sys, time
METADATA, RESULT, FAILURE, READY = 16, 17, 18, 19
def find_control():
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                return socket.socket(fileno=int(name))
        except OSError:
            pass
def frame(kind, payload=b""):
    return struct.pack(">IB", len(payload), kind) + payload
`;
const BROKEN = {
  status: "FAILED",
  code: "EXECUTION_ERROR",
  detail: expect.stringContaining("own connection"),
};

/** Name, what the run does with its `control` connection, and what becomes of it. */
const ATTACKS: ReadonlyArray<
  readonly [name: string, program: string, outcome: Readonly<Record<string, unknown>>]
> = [
  ["noise", "control.sendall(b'\\xff' * 100_000)", BROKEN],
  ["a frame that claims to have 4 GB", "control.sendall(struct.pack('>IB', 0xffffffff, METADATA))", BROKEN],
  [
    "a result that claims to have 4 GB",
    "control.sendall(struct.pack('>IB', 0xffffffff, RESULT))",
    { status: "FAILED", code: "RESULT_TOO_LARGE" },
  ],
  [
    "a result of a byte more than it may have",
    "control.sendall(struct.pack('>IB', (16 << 20) + 1, RESULT))",
    { status: "FAILED", code: "RESULT_TOO_LARGE" },
  ],
  ["metadata without end", "while True:\n        control.sendall(frame(METADATA, b'{}'))", BROKEN],
  [
    "metadata that end before their end",
    `control.sendall(frame(METADATA, b'{"a":1},"result":{"b":2}') + frame(RESULT, b'{}'))`,
    BROKEN,
  ],
  [
    "what the platform measures",
    `control.sendall(frame(METADATA, b'{"_usage":{"cpuSeconds":0}}') + frame(RESULT, b'{}'))`,
    BROKEN,
  ],
  ["a result that is no text", `control.sendall(frame(RESULT, b'{"a":"\\xff"}'))`, BROKEN],
  ["a frame that only Node sends", "control.sendall(frame(2, b'{}'))", BROKEN],
  ["the word that it is ready, again", "control.sendall(frame(READY) * 1000)", BROKEN],
  ["a result that is no object", "control.sendall(frame(RESULT, b'[1]'))", BROKEN],
  ["a failure that is no JSON", "control.sendall(frame(FAILURE, b'{' * 200_000))", BROKEN],
  [
    "a failure as deep as it may be long",
    "control.sendall(frame(FAILURE, b'[' * 131_072 + b']' * 131_072))",
    BROKEN,
  ],
  [
    "a failure with text that no column holds",
    "control.sendall(frame(FAILURE, json.dumps({'code': 'A\\0B', 'detail': '\\ud800\\0'}).encode()))",
    { status: "FAILED", code: "A\uFFFDB", detail: "\uFFFD\uFFFD" },
  ],
  [
    "half a frame, and silence",
    "control.sendall(struct.pack('>IB', 100, RESULT) + b'{')\n    time.sleep(600)",
    { status: "FAILED", code: "TIMEOUT" },
  ],
  [
    "half a frame, and the end of the connection",
    "control.sendall(struct.pack('>IB', 100, RESULT) + b'{')\n    control.close()\n    os.closerange(0, 1000)\n    time.sleep(600)",
    { status: "FAILED", code: "EXECUTION_ERROR" },
  ],
  [
    "a result one byte at a time",
    "for byte in frame(RESULT, b'{\"a\":1}'):\n        control.sendall(bytes([byte]))",
    { status: "SUCCEEDED" },
  ],
  [
    "two results: the first counts",
    "control.sendall(frame(RESULT, b'{\"a\":1}') + frame(RESULT, b'{\"a\":2}'))\n    time.sleep(600)",
    { status: "SUCCEEDED", result: Buffer.from('{"a":1}') },
  ],
  [
    "files along with the bytes",
    "files = array.array('i', [os.open('/dev/null', os.O_RDONLY) for _ in range(200)])\n    for _ in range(20):\n        control.sendmsg([b'\\0'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])\n    control.sendall(b'\\xff' * 100)",
    BROKEN,
  ],
  [
    "frames on the connections of its output",
    "control.detach()\n    [os.write(stream, frame(RESULT, b'{}') * 1000) for stream in (1, 2)]",
    { status: "SUCCEEDED" },
  ],
];

describe.each(ATTACKED_LEVELS)("at level %s", (level) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createAttackedFixture(level, { times: { exitMs: 300 } });
  });
  afterAll(() => fixture.close());

  test.each(ATTACKS)(
    "%s in the place of an answer ends that run alone, and costs the platform nothing that stays",
    async (_, program, expected) => {
      const version = fixture.createVersion(
        `${PREFIX}def run(data):\n    if not data["attacks"]:\n        return data\n    control = find_control()\n    ${program}\n`,
      );
      const sibling = { data: { attacks: false, secret: "mine" } };
      expect((await fixture.finish(version, sibling)).result).toEqual(sibling.data);
      const before = countDescriptors();
      const attack = fixture.finish(version, {
        data: { attacks: true },
        timeoutSeconds: expected["code"] === "TIMEOUT" ? 3 : 60,
      });
      const beside = fixture.finish(version, sibling);
      expect((await attack).outcome).toMatchObject(expected);
      expect((await beside).result).toEqual(sibling.data);
      expect((await fixture.finish(version, sibling)).result).toEqual(sibling.data);
      // The connections of idle children, of which there may be more by now.
      expect(countDescriptors() - before).toBeLessThan(50);
    },
  );
});

function countDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}
