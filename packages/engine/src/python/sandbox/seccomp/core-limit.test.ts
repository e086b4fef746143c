import { expect, test } from "vitest";
import { runBpf } from "../../../testing/run-bpf.ts";
import { createChildFilter, createConfinedFilter } from "./filters.ts";
import { SYSCALLS } from "./syscalls.ts";

const CONFINED = { network: "refused", epoll: "allowed" } as const;
const PROGRAMS = [
  ...(["hidden", "unsignalled", "exposed"] as const).map((siblings) => createChildFilter("x86_64", siblings)),
  ...(["unsignalled", "exposed"] as const).map((siblings) =>
    createConfinedFilter("x86_64", { ...CONFINED, siblings }),
  ),
];
const [CORE, NOFILE] = [4, 7];

test("the core limit can be read, and is not changed by setting it, also at an address whose lower half is 0", () => {
  for (const program of PROGRAMS) {
    const judge = (name: "prlimit64" | "setrlimit", args: readonly (number | bigint)[]) =>
      runBpf(program, { architecture: 0xc000_003e, number: SYSCALLS[name][0], args });
    expect(judge("prlimit64", [0, CORE, 0, 0x7000])).toBe("allow");
    for (const address of [0x7000, 0x1_0000_0000n, 0x7fff_0000_0000n])
      expect(judge("prlimit64", [0, CORE, address, 0])).toEqual({ errno: 0 });
    expect(judge("setrlimit", [CORE, 0x7000])).toEqual({ errno: 0 });
    expect(judge("prlimit64", [0, NOFILE, 0x7000, 0])).toBe("allow");
    expect(judge("setrlimit", [NOFILE, 0x7000])).toBe("allow");
  }
});
