import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { shareWork } from "./shared-work.ts";

/** Work that ends when it is stopped, with its reason. */
async function work({ signal }: AbortController): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}

describe("work that callers share", () => {
  test("goes on while somebody waits for it, and who gives up does not wait for its end", async () => {
    const shared = shareWork(work);
    const leaving = new AbortController();
    const staying = shared.join(new AbortController().signal);
    const left = shared.join(leaving.signal);
    leaving.abort(new Error("it takes too long"));
    await expect(left).rejects.toThrow("it takes too long");
    expect(shared.isStopped()).toBe(false);
    shared.stop(new Error("the process ends"));
    await expect(staying).rejects.toThrow("the process ends");
  });

  test("is stopped when the last caller gives up, who waits for its end", async () => {
    const shared = shareWork(work, () => new Error("cancelled"));
    const callers = [new AbortController(), new AbortController()];
    const ends = Promise.allSettled(callers.map(({ signal }) => shared.join(signal)));
    for (const caller of callers) caller.abort();
    const cancelled = { status: "rejected", reason: new Error("cancelled") };
    expect(await ends).toEqual([cancelled, cancelled]);
    expect(shared.isStopped()).toBe(true);
  });

  test("is not stopped by a caller that has its result", async () => {
    const caller = new AbortController();
    const shared = shareWork(async () => "done");
    expect(await shared.join(caller.signal)).toBe("done");
    caller.abort();
    expect(shared.isStopped()).toBe(false);
  });
});
