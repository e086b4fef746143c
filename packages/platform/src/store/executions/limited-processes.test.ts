import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createOwner, finishAll, request } from "@platform/engine/testing/execution-fixtures";
import type { Claim } from "@platform/engine/store/execution-store";
import { createLimitScene } from "../../testing/limit-scene.ts";
import type { LimitScene } from "../../testing/limit-scene.ts";

const MEMBER = new URL("../../testing/limit-member.ts", import.meta.url).pathname;

let scene: LimitScene;
const members = new Set<ChildProcess>();

beforeAll(async () => {
  scene = await createLimitScene();
});
afterEach(async () => {
  await Promise.all([...members].map(kill));
});
afterAll(() => scene.close());

async function kill(member: ChildProcess): Promise<void> {
  members.delete(member);
  if (member.exitCode !== null || member.signalCode !== null) return;
  const ended = once(member, "exit");
  member.kill("SIGKILL");
  await ended;
}

/** A gateway, a worker and who releases, of one process; `starts` of each owner and service. */
function spawnMember(starts: number, services: readonly string[], owners: readonly string[]): ChildProcess {
  const target = JSON.stringify(scene.home.target);
  const member = spawn(execPath, [MEMBER, target, String(starts), ...services, ...owners], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  members.add(member);
  return member;
}

const awaitStarts = async (member: ChildProcess) =>
  void (member.stdout && (await once(member.stdout, "data")));

test("whoever is killed at whatever moment, no more than the limit have a place, and all come to their end", async () => {
  const LIMITS = { service: 5, subscription: 2 };
  const key = await scene.createService(LIMITS);
  const owners = Array.from({ length: 4 }, () => createOwner().id);
  const services = owners.map(() => key);
  const progress = { most: 0, isDone: false };
  const watch = (async () => {
    while (!progress.isDone) progress.most = Math.max(progress.most, (await scene.count(key)).places);
  })();
  // Three die in the middle of it, at moments that nobody chooses; two more take over.
  for (let round = 0; round < 3; round++) {
    const [gone, stays] = [spawnMember(20, services, owners), spawnMember(5, services, owners)];
    await awaitStarts(stays);
    await kill(gone);
    await kill(stays);
  }
  const [one, other] = [spawnMember(5, services, owners), spawnMember(5, services, owners)];
  await Promise.all([one, other].map(awaitStarts));
  await expect.poll(async () => await scene.count(key)).toEqual({ running: 0, places: 0, held: 0 });
  progress.isDone = true;
  await watch;
  expect(progress.most).toBeGreaterThan(0);
  expect(progress.most).toBeLessThanOrEqual(LIMITS.service);
});

/** Deterministic: a sequence that a failure can be repeated with. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

test.each([1, 2, 3])(
  "whatever starts, ends, cancels, is lost and changes in whatever order, no limit is exceeded and none is left waiting (seed %i)",
  async (seed) => {
    const roll = createDice(seed);
    const keys = [
      await scene.createService({ service: 3, subscription: 2 }),
      await scene.createService(null),
    ];
    const limits = new Map<string, { service?: number; subscription?: number } | null>([
      [keys[0] ?? "", { service: 3, subscription: 2 }],
    ]);
    const owners = Array.from({ length: 4 }, () => createOwner());
    const pick = <T>(items: readonly T[]): T => items[roll(items.length)] as T;
    const started: { id: string; ownerId: string }[] = [];
    let held: Claim[] = [];
    const moves = [
      async () => {
        const { id, owner } = await scene.start(pick(keys), pick(owners));
        started.push({ id, ownerId: owner.id });
      },
      async () => void (await scene.store.releaseDue()),
      async () => {
        // A tenth of what is claimed is lost at once.
        const { claims } = await scene.store.claim(
          request({ limit: 1 + roll(3), leaseSeconds: roll(10) === 0 ? 0.001 : 60 }),
        );
        held.push(...claims);
      },
      async () => {
        const claim = held.splice(roll(held.length), 1);
        await finishAll(scene.store, claim);
      },
      async () => {
        const claim = held.splice(roll(held.length), 1)[0];
        if (claim !== undefined) await scene.store.giveBack(claim, roll(2) === 0 ? null : 0);
      },
      async () => {
        const one = started[roll(started.length)];
        if (one !== undefined) await scene.store.cancel(one.id, one.ownerId);
      },
      async () => void (await scene.store.sweep()),
      async () => {
        const key = pick(keys);
        const concurrency = pick([
          null,
          { service: 1 + roll(4) },
          { subscription: 1 + roll(2) },
          { service: 4, subscription: 1 },
        ]);
        limits.set(key, concurrency);
        await scene.setLimits(key, concurrency);
      },
    ];
    const weights = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7];
    const places = new Map<string, number>();
    const exceeded: string[] = [];
    for (let step = 0; step < 250; step++) {
      await moves[pick(weights)]?.();
      for (const key of keys) {
        const now = (await scene.count(key)).places;
        // After a lower limit there may be more than it says, but no more than there were.
        const most = Math.max(limits.get(key)?.service ?? Infinity, places.get(key) ?? 0);
        if (now > most) exceeded.push(`step ${step}: ${now} of ${most}`);
        places.set(key, now);
      }
    }
    expect(exceeded).toEqual([]);
    expect(started.length).toBeGreaterThan(20);
    // From here on everything ends: none may be left.
    await finishAll(scene.store, held);
    held = [];
    await expect
      .poll(async () => {
        await scene.store.sweep();
        await scene.release();
        await finishAll(scene.store, (await scene.store.claim(request())).claims);
        const counts = await Promise.all(keys.map(async (key) => await scene.count(key)));
        return counts.reduce((sum, { held: waits, places: has }) => sum + waits + has, 0);
      })
      .toBe(0);
  },
);
