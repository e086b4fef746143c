import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Network } from "@platform/contract/network";
import { RUNNERS } from "../testing/ordinary-user.ts";
import {
  createOutsideWorld,
  HOST_SIDE,
  METADATA,
  OTHER_OUTSIDE,
  OUTSIDE,
  OUTSIDE_PORT,
  PRIVATE,
} from "../testing/outside-world.ts";
import type { OutsideWorld } from "../testing/outside-world.ts";
import type { Answer, VersionRunner } from "../testing/version-runner.ts";

const IS_ROOT = process.getuid?.() === 0;
/** What a name resolves to, and how a connection to it, and to an address, ends. */
const PROGRAM = `
import errno, socket, struct

def resolve(name):
    try:
        return sorted(socket.gethostbyname_ex(name)[2])
    except OSError as error:
        return type(error).__name__

def connect(host):
    try:
        with socket.create_connection((host, ${OUTSIDE_PORT}), 5) as connection:
            return connection.recv(10).decode()
    except OSError as error:
        return errno.errorcode.get(error.errno, type(error).__name__)

def ask(server):
    """A question over UDP, as a program with a resolver of its own sends it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(20)
        try:
            s.sendto(struct.pack("!6H", 7, 256, 1, 0, 0, 0) + b"\\3api\\4test\\0\\0\\1\\0\\1", (server, 53))
            return socket.inet_ntoa(s.recv(512)[-4:])
        except OSError as error:
            return errno.errorcode.get(error.errno, type(error).__name__)

def run(data):
    return [{"resolve": resolve, "connect": connect, "ask": ask}[what](host) for what, host in data["steps"]]
`;
type Step = readonly [what: "resolve" | "connect" | "ask", host: string];

const directory = mkdtempSync(join(tmpdir(), "names-"));
const names = join(directory, "names.json");
const resolvConf = join(directory, "resolv.conf");
writeFileSync(resolvConf, `nameserver ${OUTSIDE}\n`, { mode: 0o644 });

/** From now on these names exist; null: the resolver fails. */
function setNames(known: Readonly<Record<string, readonly string[] | null>>): void {
  writeFileSync(`${names}.new`, JSON.stringify(known));
  renameSync(`${names}.new`, names);
}

let world: OutsideWorld;
beforeAll(async () => {
  setNames({});
  if (IS_ROOT) world = await createOutsideWorld(names);
});
afterAll(async () => {
  if (IS_ROOT) await world.close();
  rmSync(directory, { recursive: true });
});

describe.runIf(IS_ROOT).each(RUNNERS)("names, for versions that are run by %s", (_who, createRunner) => {
  let runner: VersionRunner;
  beforeAll(async () => {
    runner = await createRunner(resolvConf);
  });
  afterAll(() => runner.close());
  beforeEach(() => setNames({ "api.test": [OUTSIDE] }));

  const run = (network: Network, steps: readonly Step[]): Promise<Answer> =>
    runner.run({ program: PROGRAM, network, data: { steps } });
  const call = async (...args: Parameters<typeof run>): Promise<unknown> => (await run(...args)).result;

  test("egress resolves names by the resolver of the host, over UDP, and by no other server", async () => {
    expect(
      await call("egress", [
        ["resolve", "api.test"],
        ["connect", "api.test"],
        ["resolve", "absent.test"],
        ["ask", "198.18.0.3"],
        ["ask", PRIVATE],
      ]),
    ).toEqual({ value: [[OUTSIDE], "outside", "gaierror", OUTSIDE, "EHOSTUNREACH"] });
  });

  test("a name that resolves to a private address, to the host's or to the loopback leads nowhere, also when it changes", async () => {
    const closed = [PRIVATE, METADATA, HOST_SIDE, "127.0.0.1"];
    for (const address of closed) {
      setNames({ "rebound.test": [address] });
      expect(
        await call("egress", [
          ["resolve", "rebound.test"],
          ["connect", "rebound.test"],
        ]),
      ).toEqual({
        value: [[address], "EHOSTUNREACH"],
      });
    }
  });

  test("a listed name is reached where it leads at present; where it led before is still reached; no other name is resolved", async () => {
    const network = { hosts: ["api.test"] };
    expect(
      await call(network, [
        ["connect", "api.test"],
        ["connect", OTHER_OUTSIDE],
        ["resolve", "other.test"],
        ["ask", "198.18.0.3"],
      ]),
    ).toEqual({ value: ["outside", "ENETUNREACH", "gaierror", "EHOSTUNREACH"] });
    setNames({ "api.test": [OTHER_OUTSIDE] });
    const moved: readonly Step[] = [
      ["resolve", "api.test"],
      ["connect", "api.test"],
      ["connect", OUTSIDE],
    ];
    await expect.poll(() => call(network, moved)).toEqual({ value: [[OTHER_OUTSIDE], "outside", "outside"] });
  });

  test("a listed name that leads to a private address is not reached, and the log says so", async () => {
    setNames({ "inner.test": [PRIVATE], "api.test": [OUTSIDE] });
    const hosts = ["inner.test", "api.test"];
    const { result, notices } = await run({ hosts }, [
      ["connect", "inner.test"],
      ["connect", "api.test"],
    ]);
    expect(result).toEqual({ value: ["EHOSTUNREACH", "outside"] });
    expect(notices.filter((text) => text.startsWith("inner.test, "))).toEqual([
      expect.stringMatching(/^inner\.test, .* resolves to a private address/u),
    ]);
  });

  test("a listed name that could not be resolved at first is logged, and reached once it can be", async () => {
    setNames({ "late.test": null });
    const network = { hosts: ["late.test"] };
    const first = await run(network, [["connect", "late.test"]]);
    expect(first.result).toEqual({ value: ["gaierror"] });
    expect(first.notices.filter((text) => text.startsWith("late.test, "))).toEqual([
      expect.stringMatching(/^late\.test, .* could not be resolved \(ESERVFAIL\); it is tried again\.$/u),
    ]);
    setNames({ "late.test": [OUTSIDE] });
    await expect.poll(() => call(network, [["connect", "late.test"]])).toEqual({ value: ["outside"] });
  });
});
