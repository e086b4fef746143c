import { expect, test } from "vitest";
import { hideNames, isLeftOver, nameWorker, REST } from "./names.ts";

const explain = (name: string) => hideNames(`EACCES: mkdir '/groups/cpu/${name}/trial' below '${REST}'`);

test("what went wrong with the groups of two workers is the same text, and is no text that names one of them", () => {
  const [one, other] = [nameWorker(), nameWorker()];
  expect(one).not.toBe(other);
  expect(explain(one)).toBe("EACCES: mkdir '/groups/cpu/platform-*/trial' below 'platform-rest'");
  expect(explain(other)).toBe(explain(one));
  expect(isLeftOver(one)).toBe(false);
});
