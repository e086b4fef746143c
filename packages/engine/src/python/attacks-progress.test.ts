import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

/* What a run writes to its own connection in the place of reports: none of it reaches another run, and little of it costs anything. */

const PREFIX = `
import json, os, socket, struct, time
PROGRESS, CHECKPOINT, FAILURE = 25, 26, 18
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
const FAILED = { status: "FAILED", code: "EXECUTION_ERROR", detail: "KeyError: 1" };
const KEPT = `control.sendall(frame(CHECKPOINT, b'{"kept":1}'))`;

/** Name, what the run does with its `control` connection, what becomes of it, and which checkpoints are passed on. */
const ATTACKS: ReadonlyArray<
  readonly [
    name: string,
    program: string,
    outcome: { readonly status: string; readonly code: string },
    checkpoints: readonly string[],
  ]
> = [
  [
    "a checkpoint of a byte more than it may have",
    "control.sendall(struct.pack('>IB', (1 << 20) + 1, CHECKPOINT))",
    BROKEN,
    [],
  ],
  [
    "a checkpoint that claims 4 GB",
    "control.sendall(struct.pack('>IB', 0xffffffff, CHECKPOINT))",
    BROKEN,
    [],
  ],
  ["a report that is too long", "control.sendall(frame(PROGRESS, b'x' * 4097))", BROKEN, []],
  [
    "a checkpoint that is none",
    "[control.sendall(frame(CHECKPOINT, text)) for text in (b'[1]', b'{', b'', b'{}{}', b'{\"a\":NaN}', b'{\"a\":\"\\xff\"}')]",
    FAILED,
    [],
  ],
  [
    "a checkpoint that ends before its end",
    `control.sendall(frame(CHECKPOINT, b'{"a":1},"code":"SUCCEEDED","x":{}'))`,
    FAILED,
    [],
  ],
  [
    "a checkpoint as deep as it may be long",
    "control.sendall(frame(CHECKPOINT, b'{\"a\":' + b'[' * 500_000 + b']' * 500_000 + b'}'))",
    FAILED,
    [],
  ],
  [
    "half a character in a checkpoint",
    `control.sendall(frame(CHECKPOINT, rb'{"a":"\\ud800"}'))`,
    FAILED,
    [String.raw`{"a":"\ufffd"}`],
  ],
  [
    "reports that are none",
    `${KEPT}\n    [control.sendall(frame(PROGRESS, text)) for text in (b'', b'null', b'{}', b'{"fraction":2,"message":""}', b'{"fraction":1e999,"message":""}', b'{"fraction":"1","message":""}', b'{"fraction":1,"message":[]}', b'[' * 4000)]`,
    FAILED,
    ['{"kept":1}'],
  ],
  [
    "half a checkpoint, and silence",
    `${KEPT}\n    control.sendall(struct.pack('>IB', 100, CHECKPOINT) + b'{')\n    time.sleep(600)`,
    { status: "FAILED", code: "TIMEOUT" },
    ['{"kept":1}'],
  ],
  [
    "a checkpoint behind the answer",
    `${KEPT}\n    control.sendall(frame(FAILURE, b'{"code":"OWN","detail":"."}') + frame(CHECKPOINT, b'{"late":1}'))\n    time.sleep(600)`,
    { status: "FAILED", code: "OWN" },
    ['{"kept":1}'],
  ],
  [
    "nothing but reports, for as long as it may run",
    `${KEPT}\n    while True:\n        control.sendall(frame(PROGRESS) * 10_000)`,
    { status: "FAILED", code: "TIMEOUT" },
    ['{"kept":1}'],
  ],
  [
    "nothing but checkpoints, for as long as it may run",
    `${KEPT}\n    time.sleep(1)\n    while True:\n        control.sendall(frame(CHECKPOINT, b'x' * (1 << 20)))`,
    { status: "FAILED", code: "TIMEOUT" },
    ['{"kept":1}'],
  ],
];

describe.each(ATTACKED_LEVELS)("at level %s", (level) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createAttackedFixture(level, { times: { exitMs: 300 } });
  });
  afterAll(() => fixture.close());

  test.each(ATTACKS)(
    "%s ends that run alone at most, and is stored of no other",
    async (_, program, outcome, kept) => {
      const version = fixture.createVersion(
        `${PREFIX}def run(data):\n    if not data["attacks"]:\n        return data\n    control = find_control()\n    ${program}\n    control.detach()\n    raise KeyError(1)\n`,
      );
      const sibling = { data: { attacks: false, secret: "mine" } };
      const attack = fixture.finish(version, {
        data: { attacks: true },
        timeoutSeconds: outcome.code === "TIMEOUT" ? 3 : 60,
      });
      const beside = await fixture.finish(version, sibling);
      const attacked = await attack;
      expect(attacked.outcome).toMatchObject(outcome);
      const checkpoints = attacked.reported.flatMap(({ checkpoint }) =>
        checkpoint === null ? [] : [Buffer.from(checkpoint).toString()],
      );
      expect(checkpoints).toEqual(kept);
      expect(attacked.reported.filter(({ progress }) => progress !== null)).toEqual([]);
      const after = await fixture.finish(version, sibling);
      for (const { result, reported } of [beside, after])
        expect({ result, reported }).toEqual({ result: sibling.data, reported: [] });
    },
  );

  test("a flood of reports costs this process little, and siblings report as ever", async () => {
    const version = fixture.createVersion(
      `${PREFIX}from platform_service import checkpoint, report
def run(data):
    if not data["attacks"]:
        report(0.5, "sibling")
        return data
    control = find_control()
    print("begins", flush=True)
    while True:
        control.sendall(frame(CHECKPOINT, b'x' * (1 << 20)) + frame(PROGRESS) * 1000)
`,
    );
    const attack = fixture.start(version, { data: { attacks: true }, timeoutSeconds: 3 });
    await waitFor("the flood to begin", () => attack.lines.length > 0);
    const before = process.threadCpuUsage();
    const beside = await fixture.finish(version, { data: { attacks: false } });
    expect(beside.reported).toEqual([{ progress: { fraction: 0.5, message: "sibling" }, checkpoint: null }]);
    expect(await attack.outcome).toMatchObject({ code: "TIMEOUT" });
    await attack.ended;
    const { user, system } = process.threadCpuUsage(before);
    // Three seconds of it, with the start of the sibling.
    expect((user + system) / 1e6).toBeLessThan(1.5);
  });
});
