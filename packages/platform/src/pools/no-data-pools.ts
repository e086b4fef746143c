import { Problem } from "@platform/contract/problems";
import type { InputSource } from "@platform/engine/store/execution-store";

/** A platform without data pools: every reference names a file that is not there. */
export function createNoDataPools(): InputSource {
  return {
    check: async (reference) => {
      throw new Problem(
        "DATA_REFERENCE_INVALID",
        `This platform has no data pool ${reference.dataPoolId}; pass the input by value.`,
      );
    },
    read: async () => null,
  };
}
