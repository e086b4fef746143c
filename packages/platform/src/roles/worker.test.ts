import { expect, test } from "vitest";
import { joinRests } from "./worker.ts";

test("a worker is not ready while it starts no executions of either kind, and says of which", () => {
  expect(joinRests(null, null)).toBeNull();
  expect(joinRests("It rests.", null)).toBe("It rests.");
  expect(joinRests(null, "It rests.")).toBe("Executions of backends: It rests.");
  expect(joinRests("It rests.", "So does it.")).toBe("It rests. Executions of backends: So does it.");
});
