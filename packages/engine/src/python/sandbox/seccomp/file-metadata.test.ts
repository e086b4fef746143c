import { expect, test } from "vitest";
import { runBpf } from "../../../testing/run-bpf.ts";
import type { Decision } from "../../../testing/run-bpf.ts";
import { createBaseFilter, createConfinedFilter } from "./filters.ts";
import type { Epoll } from "./filters.ts";

const ARCHITECTURES = [
  ["x86_64", 0xc000_003e],
  ["aarch64", 0xc000_00b7],
] as const;
/** Of chmod, chown and utime; of attributes. */
const SETTING = {
  x86_64: [90, 91, 268, 452, 92, 93, 94, 260, 132, 235, 261, 280],
  aarch64: [52, 53, 452, 54, 55, 88],
} as const;
const ATTRIBUTES = { x86_64: [188, 189, 190, 197, 198, 199], aarch64: [5, 6, 7, 14, 15, 16] } as const;

test.each(ARCHITECTURES)(
  "a version of the platform's user, without a mount namespace, changes no permissions, owners, times and attributes, on %s",
  (architecture, audit) => {
    const create = (epoll: Epoll) =>
      createConfinedFilter(architecture, { network: "refused", epoll, siblings: "unsignalled" });
    const judge = (program: Buffer, numbers: readonly number[]): readonly Decision[] =>
      numbers.map((number) => runBpf(program, { architecture: audit, number, args: [] }));
    const [setting, attributes] = [SETTING[architecture], ATTRIBUTES[architecture]];
    expect(judge(create("refused"), setting)).toEqual(setting.map(() => ({ errno: 0 })));
    expect(judge(create("refused"), attributes)).toEqual(attributes.map(() => ({ errno: 1 })));
    const own = createBaseFilter(architecture, { network: "own", epoll: "refused" });
    for (const program of [create("allowed"), own])
      expect(judge(program, [...setting, ...attributes])).toEqual(
        [...setting, ...attributes].map(() => "allow"),
      );
  },
);

/** Of truncate, open, openat, openat2. */
const OPENING = { x86_64: [76, 2, 257, 437], aarch64: [45, null, 56, 437] } as const;

test.each(ARCHITECTURES)(
  "before Linux 6.2, where Landlock judges only who writes, a version without a mount namespace cuts no file off, on %s",
  (architecture, audit) => {
    const create = (siblings: "exposed" | "unsignalled") =>
      createConfinedFilter(architecture, { network: "refused", epoll: "allowed", siblings });
    const [truncate, open, openat, openat2] = OPENING[architecture];
    const judge = (program: Buffer, number: number, flags: number): Decision =>
      runBpf(program, {
        architecture: audit,
        number,
        args: number === open ? [0x7000, flags] : [0xffff_ff9c, 0x7000, flags],
      });
    const [old, recent] = [create("exposed"), create("unsignalled")];
    for (const number of [open, openat].filter((each) => each !== null)) {
      // O_TRUNC alone, with O_CREAT and O_CLOEXEC, with the access mode 3.
      for (const flags of [0o1000, 0o2001100, 0o1003]) {
        expect(judge(old, number, flags)).toEqual({ errno: 1 });
        expect(judge(recent, number, flags)).toBe("allow");
      }
      // For reading, writing, both; open() of Python with "w"; O_PATH.
      for (const flags of [0, 1, 2, 0o1001, 0o1002, 0o2001101, 0o10000000])
        expect(judge(old, number, flags)).toBe("allow");
    }
    expect([judge(old, truncate, 0), judge(old, openat2, 0)]).toEqual([{ errno: 1 }, { errno: 38 }]);
    expect([judge(recent, truncate, 0), judge(recent, openat2, 0)]).toEqual(["allow", "allow"]);
  },
);
