import { expect, test } from "vitest";
import { describeSharedUser } from "./describe-shared-user.ts";

test("a worker whose versions are not bounded says so, and why", () => {
  const siblings = "unsignalled";
  expect(describeSharedUser("B", { unbounded: null, siblings }).why).not.toContain("user namespaces");
  expect(describeSharedUser("B", { unbounded: "It is old.", siblings }).why).toMatch(
    /Code at import can take all user namespaces and processes .+ It is old\.$/u,
  );
});

test("a worker whose versions may end it says so", () => {
  const unbounded = null;
  expect(describeSharedUser("C", { unbounded, siblings: "unsignalled" }).why).not.toContain("signals");
  expect(describeSharedUser("C", { unbounded, siblings: "exposed" }).why).toMatch(
    /code at import may end this worker/u,
  );
});
