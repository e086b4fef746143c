import { Problem } from "@platform/contract/problems";
import { expect, test } from "vitest";
import { createOwner } from "../testing/execution-fixtures.ts";
import { NO_REFERENCES } from "../testing/no-references.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import type { Hold } from "./batch-hold.ts";
import { startItems } from "./start-items.ts";

const OWNER = createOwner();
const ITEMS = ["a", "b", "c"];
const BATCH = { id: "batch", ownerId: OWNER.id, itemIds: ITEMS, createdAt: Date.now() };
const TARGET = {
  id: "version",
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  inputSchema: null,
};

/** Starts the items of a batch whose hold can be renewed so many times, before the database is away; `stored` has those that were started by its answer. */
async function startWhere(renewals: number) {
  const stored: string[] = [];
  let asked = 0;
  const hold: Hold = {
    ask: async () => {
      asked += 1;
      if (asked > renewals) throw new Problem("UNAVAILABLE");
      return "held";
    },
    close: () => undefined,
  };
  const start = async ({ id }: { readonly id: string }) => {
    await new Promise(setImmediate);
    stored.push(id);
    return { id, status: "PENDING" } as ExecutionRecord;
  };
  const refused: unknown = await startItems(
    { startItem: { references: NO_REFERENCES, start }, pace: async () => undefined },
    {
      owner: OWNER,
      batch: { ...BATCH, isCancelled: false, refusals: null },
      hold,
      key: undefined,
      items: ITEMS.map(() => new Uint8Array()),
      known: new Map(),
      target: TARGET,
      trace: null,
    },
  ).catch((error: unknown) => error);
  return { refused, stored: [...stored] };
}

test.each([
  [2, ["a", "b"]],
  [3, ITEMS],
])(
  "a batch whose hold cannot be renewed after %i items is not told that nothing was accepted, and no item is started after the answer",
  async (renewals, expected) => {
    const { refused, stored } = await startWhere(renewals);
    expect(refused).toMatchObject({
      code: "INTERNAL_ERROR",
      message: expect.stringContaining("Get the batch batch before starting its items again."),
    });
    expect(stored).toEqual(expected);
  },
);
