import { readMonotonic } from "@platform/engine/base/monotonic";
import { MINUTE } from "@platform/engine/base/time";
import { AT_ONCE, REMOVAL_MINUTES } from "../store/objects/object-rows.ts";
import type { ObjectRow, ObjectRows } from "../store/objects/object-rows.ts";
import type { ListedObject, ObjectStore } from "./object-store.ts";

/** What removal works with. */
interface Sweep {
  readonly store: Pick<ObjectStore, "remove" | "list">;
  readonly rows: ObjectRows;
}

/** How much is stored without being needed, or is needed without being stored. */
export interface StorageReport {
  /** The next round removes them. */
  readonly unneeded: readonly ObjectRow[];
  /** They are in the store without a row; the next round notes them. */
  readonly unknown: readonly ListedObject[];
  /** A row needs them, and the store does not have them. */
  readonly missing: readonly ObjectRow[];
}

/** A mark is used for this part of its time: a removal that begins then has the rest. */
const USED_OF_MARK = (REMOVAL_MINUTES * MINUTE) / 3;
/** Content that is compared with rows by one statement. */
const COMPARED = 1_000;

/**
 * Removes objects that no row needs; returns how many. Each is marked first, then removed from the store, and forgotten when the store has
 * said so: until then nobody stores equal content, which a removal that comes late would take. Several processes may do so at once.
 *
 * @throws StoreUnavailable after the others, where one could not be removed; it is tried again when its mark has ended. Ends where the
 * store removes none of those marked at once: the others keep without marks until it answers again
 */
export async function sweepObjects({ store, rows }: Sweep): Promise<number> {
  const failures: unknown[] = [];
  let removed = 0;
  for (let isMore = true; isMore;) {
    const until = readMonotonic() + USED_OF_MARK;
    const marked = await rows.mark();
    const before = removed;
    for (const each of marked) {
      // A store that takes so long is asked again in the next round.
      if (readMonotonic() >= until) break;
      const isGone = await store.remove(each.hash).then(
        () => rows.forget(each),
        (error: unknown) => {
          failures.push(error);
          return false;
        },
      );
      if (isGone) removed += 1;
    }
    isMore = marked.length === AT_ONCE && removed > before;
  }
  if (failures.length > 0) throw failures[0];
  return removed;
}

/** Notes content without a row, of a former release or of a database that was restored: the sweep decides about it. Returns how many there were. */
export async function adoptObjects({ store, rows }: Sweep): Promise<number> {
  let adopted = 0;
  for await (const found of inGroups(store.list())) adopted += await rows.adopt(found);
  return adopted;
}

/** What the next round would do, and what is damaged; changes nothing. */
export async function checkStorage({ store, rows }: Sweep): Promise<StorageReport> {
  const stored = new Set<string>();
  const unknown: ListedObject[] = [];
  for await (const found of inGroups(store.list())) {
    for (const { hash } of found) stored.add(hash);
    const strangers = await rows.findUnknown(found.map(({ hash }) => hash));
    unknown.push(...found.filter(({ hash }) => strangers.has(hash)));
  }
  const missing: ObjectRow[] = [];
  for (let after = ""; ;) {
    const page = await rows.listNeeded(after);
    missing.push(...page.filter(({ hash }) => !stored.has(hash)));
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.hash;
  }
  return { unneeded: await rows.listUnneeded(), unknown, missing };
}

async function* inGroups(objects: AsyncIterable<ListedObject>): AsyncIterable<readonly ListedObject[]> {
  let group: ListedObject[] = [];
  for await (const object of objects) {
    group.push(object);
    if (group.length < COMPARED) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
