import { expect, test } from "vitest";
import { chooseEpoll } from "./build-step.ts";

test("where builds run as the user of the platform, epoll is for programs that need it and run no code of packages", () => {
  expect(chooseEpoll(null, {})).toBe("refused");
  expect(chooseEpoll(null, { needsEpoll: true })).toBe("allowed");
  expect(chooseEpoll({ uid: 190_000, gid: 190_000 }, {})).toBe("allowed");
});
