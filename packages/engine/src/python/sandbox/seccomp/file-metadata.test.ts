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
