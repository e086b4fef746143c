import { expect, test } from "vitest";
import { refuseReplay } from "./advice.ts";

const ENDED = { terminal: true, areContentsShown: true, inputBytes: 2 };

test("what has ended can be replayed while its input is kept, by those whose input it is", () => {
  expect(refuseReplay(ENDED)).toBeNull();
  expect(refuseReplay({ ...ENDED, areContentsShown: false })).toContain("belongs to the subscriber");
  expect(refuseReplay({ ...ENDED, terminal: false })).toContain("not ended");
  const { inputBytes: _gone, ...expired } = ENDED;
  expect(refuseReplay(expired)).toContain("not kept any more");
});
