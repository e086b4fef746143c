import { expect, test } from "vitest";
import { describeSharedUser } from "./describe-shared-user.ts";

test("a worker whose versions are not bounded says so, and why", () => {
  expect(describeSharedUser("B", null).why).not.toContain("user namespaces");
  expect(describeSharedUser("B", "It is old.").why).toMatch(
    /Code at import can take all user namespaces and processes .+ It is old\.$/u,
  );
});
