import type { RateBucketStore } from "../store/rate-buckets.ts";
import { allowPerSecond, takeFromAll } from "./limits.ts";
import { createRateReserve } from "./rate-reserve.ts";

/** A pool of 1,000 files cost 46 to 92 ms of a start, a start about 1 ms. */
const FILES_OF_A_START = 20;

/** Limits how many files of data pools the starts of an organisation name: so many as cost what the starts do that are allowed. */
export function createPinnedFileLimits(store: RateBucketStore, startsPerSecond: number) {
  const reserve = createRateReserve({ store });
  const allow = (organisationId: string) =>
    allowPerSecond(`pool-files:${organisationId}`, startsPerSecond * FILES_OF_A_START);
  return {
    admit: async (organisationId: string): Promise<void> => {
      const refusal = "The starts of this organisation name too many files of data pools as folders";
      const limit = { name: "pool-files", refusal, allowance: allow(organisationId) };
      await takeFromAll(reserve, [limit]);
    },
    charge: (organisationId: string, files: number): void => {
      reserve.charge(allow(organisationId), files);
    },
  };
}
