import { expect, test } from "vitest";
import { followOutlook } from "./follow-outlook.ts";
import { planNetwork } from "./network-plan.ts";

const VIEW = { plan: planNetwork(null, []), lines: [], againMs: 1 };

test("what could not be looked at or written is reported, and tried again: the process goes on", async () => {
  const faults: unknown[] = [];
  const steps = ["look", "write"];
  await new Promise<void>((resolve) => {
    const following = followOutlook(VIEW, {
      look: async () => {
        if (steps.length === 2) throw new Error(`no ${steps.shift()}`);
        return VIEW;
      },
      onView: () => {
        if (steps.length === 1) throw new Error(`no ${steps.shift()}`);
        following.close();
        resolve();
      },
      onFault: (error) => faults.push(error),
    });
  });
  expect(faults).toEqual([new Error("no look"), new Error("no write")]);
});
