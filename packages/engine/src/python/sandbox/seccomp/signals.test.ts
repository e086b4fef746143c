import { expect, test } from "vitest";
import { runBpf } from "../../../testing/run-bpf.ts";
import type { Decision } from "../../../testing/run-bpf.ts";
import { createConfinedFilter } from "./filters.ts";
import { SYSCALLS } from "./syscalls.ts";

const OWN_PID = 0x7ffffff1;
const PARENT_PID = 0x7ffffff2;
const PARENT_GROUP = 0x7ffffff3;
const CONFINED = { network: "refused", epoll: "allowed" } as const;
const REFUSAL = { errno: 1 };

/** Judges a call of the x86_64 table. */
function judge(program: Buffer, name: keyof typeof SYSCALLS, args: readonly number[]): Decision {
  return runBpf(program, { architecture: 0xc000_003e, number: SYSCALLS[name][0] ?? -1, args });
}

const SENDING = ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"] as const;

test("without Landlock's scopes, a version sends no signals to the process that started it, also not to its group or to all", () => {
  const exposed = createConfinedFilter("x86_64", { ...CONFINED, siblings: "exposed" });
  const unsignalled = createConfinedFilter("x86_64", { ...CONFINED, siblings: "unsignalled" });
  for (const name of SENDING) {
    for (const other of [0, OWN_PID, 4242, -4242]) expect(judge(exposed, name, [other, 9])).toBe("allow");
    for (const warden of [PARENT_PID, PARENT_GROUP, -1, 0xffff_ffff, 0x1_ffff_ffff])
      expect(judge(exposed, name, [warden, 9])).toEqual(REFUSAL);
    expect(judge(unsignalled, name, [-1, 9])).toBe("allow");
  }
  // Whom a descriptor stands for is not seen.
  expect(judge(exposed, "pidfd_send_signal", [3, 9])).toEqual(REFUSAL);
  expect(judge(exposed, "pidfd_open", [4242])).toBe("allow");
  for (const owning of [8, 15]) expect(judge(exposed, "fcntl", [3, owning, 4242])).toEqual(REFUSAL);
  for (const owning of [0x8901, 0x8902]) expect(judge(exposed, "ioctl", [3, owning])).toEqual(REFUSAL);
  // What is refused elsewhere still is.
  for (const lease of [1024, 1040]) expect(judge(exposed, "fcntl", [3, lease, 1])).toEqual(REFUSAL);
  for (const typing of [0x5412, 0x541c, 0x5423])
    expect(judge(exposed, "ioctl", [3, typing])).toEqual(REFUSAL);
  for (const other of [1, 4, 10, 1030]) expect(judge(exposed, "fcntl", [3, other])).toBe("allow");
  expect(judge(exposed, "ioctl", [3, 0x5421])).toBe("allow");
});
