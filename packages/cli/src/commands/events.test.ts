import { expect, test } from "vitest";
import { waitFor } from "../testing/cli-process.ts";
import { usePeer } from "../testing/peer-scene.ts";
import { TOKEN } from "../testing/platform-peer.ts";

const scene = usePeer();
const run = (...words: string[]) => scene.run(["events", ...words]);

test("events shows all that is kept, page by page, and a code cannot steer the terminal", async () => {
  const { exitCode, stdout } = await run();
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^2026-11-20 21:17:00 PENDING +job +0198c1de-\S+ 1\.0\.0\n\S+ \S+ FAILED +incoming .*\n$/u,
  );
  expect(stdout).not.toContain("\u001b");
  expect(JSON.parse((await run("--json")).stdout)).toMatchObject([{ cursor: "first" }, { cursor: "second" }]);
  expect(JSON.parse((await run("--json", "--after", "second")).stdout)).toEqual([]);
});

test("events --follow waits behind the last cursor until Ctrl-C, and its JSON is whole", async () => {
  const { home, peer } = scene;
  const variables = { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN };
  const running = home.start(["events", "--follow", "--after", "0", "--json"], { variables });
  await waitFor("the next question", () => peer.requests.find((request) => request.includes("after=second")));
  running.interrupt();
  const { exitCode, stdout } = await running.ended;
  expect(exitCode).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject([{ cursor: "first" }, { cursor: "second" }]);
});
