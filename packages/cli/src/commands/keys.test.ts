import { expect, test } from "vitest";
import { NEW_KEY } from "../testing/access.ts";
import { usePeer } from "../testing/peer-scene.ts";

const scene = usePeer();
const run = (...words: string[]) => scene.run(words);

test("a new key is printed as lines of an .env file, and beside it a curl that does not contain the secret", async () => {
  const { exitCode, stdout, stderr } = await run("keys", "create", "shop");
  expect([exitCode, stdout]).toEqual([
    0,
    `PLATFORM_ACCESS_KEY_ID=${NEW_KEY.keyId}\nPLATFORM_ACCESS_KEY_SECRET=${NEW_KEY.secret}\n`,
  ]);
  expect(stderr).toContain(
    `curl -s -u "$PLATFORM_ACCESS_KEY_ID:$PLATFORM_ACCESS_KEY_SECRET" -d grant_type=client_credentials 'https://gateway.example.org/token'`,
  );
  expect(stderr).not.toContain(NEW_KEY.secret);
});

test("a rotation gives a day to change over unless told otherwise", async () => {
  const usual = await run("keys", "rotate", "shop", "plat_key_old", "--json");
  expect(JSON.parse(usual.stdout)).toMatchObject({ name: "after 24 h", secret: NEW_KEY.secret });
  const urgent = await run("keys", "rotate", "shop", "plat_key_old", "--overlap", "0", "--json");
  expect(JSON.parse(urgent.stdout)).toMatchObject({ name: "after 0 h" });
  expect((await run("keys", "rotate", "shop", "plat_key_old", "--overlap", "2")).exitCode).toBe(2);
  const unknown = await run("keys", "rotate", "shop", "unknown");
  expect(unknown.exitCode).toBe(1);
  expect(unknown.stderr).toContain("'platform keys ls <application>' lists what there is;");
});

test("an application is found by name or id; a name of several is refused with their ids", async () => {
  expect((await run("applications", "rename", "shop", "web")).stdout).toBe("Renamed to 'web'.\n");
  expect((await run("applications", "rename", "application-1", "web")).exitCode).toBe(0);
  const twins = await run("applications", "rename", "twin", "web");
  expect(twins.exitCode).toBe(1);
  expect(twins.stderr).toContain("twin (application-1)");
  expect((await run("keys", "create", "nobody")).stderr).toContain("no application 'nobody'");
});
