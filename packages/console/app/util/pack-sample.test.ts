import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "vitest";
import { packSample } from "./pack-sample.ts";
import { readProject } from "./read-project.ts";

test("the sample is a project of the given name, with a function and an example of its input", async () => {
  const archive = await packSample("sample-2");
  expect(await readProject(archive)).toMatchObject({ name: "sample-2", doubtful: [] });
  const files = unzipSync(archive);
  expect(Object.keys(files)).toEqual(
    expect.arrayContaining(["platform.json", "src/program.py", "input/data.json"]),
  );
  for (const file of Object.values(files)) expect(strFromU8(file)).not.toContain("{{");
});
