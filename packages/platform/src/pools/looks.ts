import { Problem } from "@platform/contract/problems";
import { MEGABYTE } from "@platform/engine/base/bytes";
import type { JsonForm } from "@platform/engine/json-check/json-form";

/** Whose look it is, and how many bytes it reads. */
interface LookSize {
  readonly organisationId: string;
  readonly bytes: number;
}

/** Looks at files that are under way: starts that ask the same wait for one look. */
export interface Looks {
  /** @throws Problem UNAVAILABLE: others of the organisation have to end first */
  readonly share: (key: string, size: LookSize, begin: () => Promise<JsonForm>) => Promise<JsonForm>;
}

/**
 * Looks go on when the starts that asked for them have given up, and one thread reads for all: without a limit one organisation could
 * have it read for hours.
 *
 * @param mostBytes that an organisation has read at one time, a single look excepted; each counts for a megabyte at least
 */
export function createLooks(mostBytes: number): Looks {
  const underWay = new Map<string, Promise<JsonForm>>();
  const bytesOf = new Map<string, number>();
  const add = (organisationId: string, bytes: number): void => {
    const sum = (bytesOf.get(organisationId) ?? 0) + bytes;
    if (sum === 0) bytesOf.delete(organisationId);
    else bytesOf.set(organisationId, sum);
  };
  return {
    share: async (key, { organisationId, bytes }, begin) => {
      const known = underWay.get(key);
      if (known !== undefined) return await known;
      const counted = Math.max(bytes, MEGABYTE);
      const others = bytesOf.get(organisationId) ?? 0;
      if (others > 0 && others + counted > mostBytes) throw refuseMore();
      add(organisationId, counted);
      const look = begin().finally(() => {
        underWay.delete(key);
        add(organisationId, -counted);
      });
      underWay.set(key, look);
      return await look;
    },
  };
}

function refuseMore(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "Other files of the organisation are being looked at; nothing was accepted. Start again in a few seconds.",
    { headers: { "retry-after": "5" } },
  );
}
