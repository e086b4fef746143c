import { Problem } from "@platform/contract/problems";

/** What a write is told that would take back a change its sender has not seen: `newest` is there, `replaces` was read; 0: none. */
export function refuseStale(resource: string, newest: number, replaces: number): Problem {
  return new Problem(
    "CONFLICT",
    `The newest revision of the ${resource} is ${newest}, not ${replaces}. Read it, make the change again, and send it with that revision.`,
  );
}
