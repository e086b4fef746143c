import { expect, test } from "vitest";
import { acceptDescription } from "./backend-description.ts";

const DESCRIPTION = {
  type: "SIMULATOR",
  display_name: "Echo",
  configuration: {
    shots_range: { min: 1, max: 10 },
    max_pubs_per_job: 1,
    supported_input_formats: ["OPEN_QASM_V3"],
    memory_result_supported: false,
  },
};

test("what a backend says of itself is taken as it is", () => {
  expect(acceptDescription(DESCRIPTION)).toEqual(DESCRIPTION);
});

test.each<readonly [string, object]>([
  ["a name that a terminal would obey", { display_name: "a\u001b[31mb" }],
  ["a name that turns what follows", { display_name: "a\u202eb" }],
  ["a name of which nothing is seen", { display_name: " \u200b" }],
  ["a provider of two lines", { provider: "a\nb" }],
  [
    "a range that is none",
    { configuration: { ...DESCRIPTION.configuration, shots_range: { min: 5, max: 4 } } },
  ],
  ["a member that there is not", { qubits: 5 }],
])("a backend is not described by %s", (_what, change) => {
  expect(() => acceptDescription({ ...DESCRIPTION, ...change })).toThrow(
    expect.objectContaining({ code: "BACKEND_NOT_DESCRIBED" }),
  );
});
