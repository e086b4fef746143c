import type { References } from "../executions/reference-lane.ts";

/** For starts that name no file and no data pool. */
export const NO_REFERENCES: References = {
  inputs: {
    pin: () => Promise.reject(new Error("nothing is named")),
    pinPools: async () => [],
    place: async () => "gone" as const,
  },
  targets: undefined,
};
