import { expect, test } from "vitest";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer();
const run = (...words: string[]) => scene.run(["backends", ...words]);

test("backends share, alias and unshare say what all organisations may use, and nothing that a terminal would obey", async () => {
  expect((await run("shared")).stdout).toContain("No backend is shared");
  const shared = await run("share", "sim.statevector", "--service", "service-1");
  expect([shared.exitCode, shared.stdout]).toEqual([
    0,
    expect.stringMatching(/sim\.statevector +- +1\.0\.0 +aer\S* +Lab +2026-11-20 21:17:00/u),
  ]);
  expect(shared.stdout).not.toContain("\u001b[31m");
  expect((await run("alias", "azure.ionq.simulator", "sim.statevector")).stdout).toMatch(
    /azure\.ionq\.simulator +sim\.statevector/u,
  );
  expect(JSON.parse((await run("shared", "--json")).stdout)).toMatchObject([
    { id: "sim.statevector", aliasOf: null },
    { id: "azure.ionq.simulator", aliasOf: "sim.statevector" },
  ]);
  expect((await run("unshare", "azure.ionq.simulator")).exitCode).toBe(0);
  const unknown = await run("unshare", "azure.ionq.simulator");
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("no backend")]);
});
