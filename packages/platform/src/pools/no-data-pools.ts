import { Problem } from "@platform/contract/problems";
import type { InputSource } from "@platform/engine/store/execution-store";

/** The source of inputs of the platform, which follows no reference to its data pools yet: it refuses every one. */
export function createNoDataPools(): InputSource {
  return {
    check: async (reference) => {
      throw new Problem(
        "DATA_REFERENCE_INVALID",
        `This platform has no data pool ${reference.dataPoolId}; pass the input by value instead.`,
      );
    },
    place: async () => "gone",
  };
}
