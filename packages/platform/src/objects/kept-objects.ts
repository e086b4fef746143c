import { setTimeout as wait } from "node:timers/promises";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { ObjectRows } from "../store/objects/object-rows.ts";
import { StoreUnavailable } from "./object-store.ts";
import type { ObjectStore, Objects, ReceivedObject } from "./object-store.ts";

/** A removal takes a moment; where the process that removes was killed, it takes until its mark ends. */
const PATIENCE = 5 * SECOND;
const PAUSE_MS = 100;

/** The objects of a store, with a row for each: what all but housekeeping works with. */
export function createKeptObjects(store: ObjectStore, rows: Pick<ObjectRows, "note">): Objects {
  const noted = (received: ReceivedObject): ReceivedObject => ({
    ...received,
    keep: () => keep({ store, rows }, received),
  });
  return {
    receive: async (content, limit) => noted(await store.receive(content, limit)),
    take: (file) => noted(store.take(file)),
    read: store.read,
    fetchTo: store.fetchTo,
  };
}

/** The store is asked, and the row not believed: who removes may have been killed in between. */
async function keep(
  { store, rows }: { readonly store: ObjectStore; readonly rows: Pick<ObjectRows, "note"> },
  received: ReceivedObject,
): Promise<void> {
  const until = readMonotonic() + PATIENCE;
  while (!(await rows.note(received))) {
    if (readMonotonic() >= until)
      throw new StoreUnavailable("Equal content is just being removed; it can be stored in some minutes.");
    await wait(PAUSE_MS);
  }
  if (!(await store.has(received.hash))) await received.keep();
}
