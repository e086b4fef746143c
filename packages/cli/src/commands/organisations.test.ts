import { expect, test } from "vitest";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer();
const run = (...words: string[]) => scene.run(["organisations", ...words]);

test("organisations ls shows all of the user, with the role in each", async () => {
  const { exitCode, stdout } = await run("ls");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /NAME +SLUG +ROLE +ID\nAda +ada +owner +org-1\nQuantum Lab +lab +maintainer +org-2/u,
  );
});

test("organisations rm deletes the one that is named, in which nobody needs to work, and no other", async () => {
  const { exitCode, stdout } = await run("rm", "lab");
  expect([exitCode, stdout]).toEqual([0, "Deleted Quantum Lab.\n"]);
  expect(scene.peer.requests).toContain("DELETE /api/organizations/org-2");
  const unknown = await run("rm", "Quantum Lab");
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("organisations ls")]);
  // The user is a member of an organisation that has this name.
  expect(unknown.stderr).toContain("No organisation of yours has the slug or id 'Quantum Lab'.");
  expect((await run("rm")).exitCode).toBe(2);
});

test("organisations create prints the id alone on standard output, and beside it how to work in it", async () => {
  const { exitCode, stdout, stderr } = await run("create", "New Lab", "--slug", "new-lab");
  expect([exitCode, stdout]).toEqual([0, "organization-new-lab\n"]);
  expect(stderr).toContain("platform set-context organization-new-lab");
});
