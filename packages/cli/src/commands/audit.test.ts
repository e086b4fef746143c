import { expect, test } from "vitest";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer();
const run = (...words: string[]) => scene.run(["audit", ...words]);

test("audit shows who did what, and says of whom it is not proven", async () => {
  const { exitCode, stdout } = await run();
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /TIME +WHO +ACTION +OUTCOME +TARGET +FROM\n2026-11-20 21:17:00 +ada@example.org \(not proven\) +session.create +refused +- +192.0.2.1\n/u,
  );
});

test("audit says that no entry is as the options say", async () => {
  expect(await run("--action", "access-key.revoke")).toMatchObject({
    exitCode: 0,
    stdout: "No entry is as the options say.\n",
  });
});

test("audit says where nobody knows who it was", async () => {
  expect((await run("--action", "access-key.use")).stdout).toMatch(
    /\n2026-11-20 21:17:00 +unknown +access-key\.use +refused /u,
  );
});

test("audit asks the platform for what the options say", async () => {
  await run("--actor", "ada", "--target", "app-1", "--after", "2026-11-20 00:00:00");
  const [request = ""] = scene.peer.requests;
  expect(Object.fromEntries(new URL(request.split(" ")[1] ?? "", scene.peer.url).searchParams)).toEqual({
    limit: "100",
    actor: "ada",
    targetId: "app-1",
    after: "2026-11-20 00:00:00",
  });
});

test("audit --format csv leaves nothing for a spreadsheet to compute, and quotes what needs it", async () => {
  const { stdout } = await run("--format", "csv");
  const [header, , line] = stdout.split("\n");
  expect(header).toBe(
    "id,at,actorKind,actorId,actorName,credential,action,target,outcome,code,ip,changes,hash",
  );
  expect(line).toContain(`,"'=HYPERLINK(""x"",""y"")@example.org",`);
});

test("audit shows the application whose execution did it, which has no address", async () => {
  expect((await run("--action", "pool-file.create")).stdout).toMatch(
    /\n2026-11-20 21:17:00 +shop +pool-file\.create +done +- +-\n/u,
  );
});

test("audit --format jsonl prints an entry a line", async () => {
  const { stdout } = await run("--format", "jsonl");
  const lines = stdout.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ id: "2", hash: "b".repeat(64) }),
    expect.objectContaining({ id: "1" }),
  ]);
});

test("audit --verify reads to the end of the log, and fails with the first entry that is not as it was", async () => {
  expect(await run("--verify")).toMatchObject({
    exitCode: 0,
    stdout: "All 1001 entries are as they were written.\n",
  });
  expect(scene.peer.requests).toHaveLength(2);
  scene.peer.breakAuditLog();
  const { exitCode, stderr } = await run("--verify");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Entry 7 of the audit log is missing or was changed.");
});

test("audit --verify takes no filter, since the hashes are a chain of all entries", async () => {
  expect((await run("--verify", "--actor", "ada@example.org")).exitCode).toBe(2);
  // Nor a format, which it would not have.
  expect((await run("--verify", "--format", "csv")).exitCode).toBe(2);
  expect(scene.peer.requests).toEqual([]);
});
