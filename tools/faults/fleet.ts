import { rm, statfs, writeFile, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { kill } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  PLATFORM_COMMAND,
  findFreePort,
  hasEnded,
  spawnPlatform,
  waitUntilReady,
} from "../platform-process.ts";
import type { Login, PlatformProcess, StartOptions } from "../platform-process.ts";
import { createFaultyDatabase } from "./database.ts";
import type { FaultyDatabase } from "./database.ts";
import { createExitList } from "./exits.ts";
import type { Exit } from "./exits.ts";
import type { Network, Way } from "./network.ts";
import { LEASE_SECONDS, MEMBERS } from "./schedule.ts";
import type { Member } from "./schedule.ts";
import { within } from "./bounded-wait.ts";

const CLOCK = fileURLToPath(new URL("stepped-clock.ts", import.meta.url));
const ROLES: Readonly<Record<Member, string>> = {
  control: "control,builder",
  "gateway-1": "gateway",
  "gateway-2": "gateway",
  "worker-1": "worker",
  "worker-2": "worker",
};
/** Of real packets; the others have proxies, which can also hold back one direction alone. */
const ON_CABLES: ReadonlySet<Member> = new Set(["gateway-1", "worker-1"]);
/** Of one process in a campaign: more is a platform that does not start. */
const MAX_EXITS = 100;
/** Before it is started again. */
const REST_MS = 200;
const SECOND = 1_000;
/** Limits for what hangs, not for what is slow. */
const STOP_WITHIN_MS = 90 * SECOND;
const KILL_WITHIN_MS = 30 * SECOND;
const REPAIR_WITHIN_MS = 400 * SECOND;
const FILL_WITHIN_MS = 60 * SECOND;
const MEGABYTE = 1024 * 1024;

/** One process of the platform that faults befall. */
interface Ship {
  readonly name: Member;
  readonly way: Way;
  readonly platform: () => PlatformProcess;
  /** When it has ended by itself, and was started again, since this was asked last. */
  readonly takeExits: () => readonly Exit[];
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
  /** SIGTERM, and waits until it is gone. */
  readonly stop: () => Promise<void>;
  /** Starts it again, on the same ports, and waits until it is ready. */
  readonly start: () => Promise<void>;
  /** Waits until it is ready: it may have ended by itself, and is being started again. */
  readonly awaitReady: () => Promise<void>;
  readonly signal: (signal: "SIGSTOP" | "SIGCONT") => void;
  /** Its wall clock is ahead of the machine's by so many seconds. */
  readonly stepClock: (seconds: number) => Promise<void>;
}

/** The platform of a campaign: its processes, and its database. */
export interface Fleet {
  readonly dataDirectory: string;
  /** Starts everything, each on ports that it keeps. */
  readonly start: () => Promise<void>;
  readonly database: () => FaultyDatabase;
  readonly ships: () => Readonly<Record<Member, Ship>>;
  readonly login: () => Login;
  readonly fillDisk: () => Promise<void>;
  readonly freeDisk: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Where it is built. */
export interface FleetOptions {
  /** Of this campaign alone. */
  readonly directory: string;
  /** On the disk that is filled. */
  readonly dataDirectory: string;
  readonly network: Network;
  readonly databasePort: number;
}

/** A platform of two gateways, two workers and control, each a process with a way of its own to the database. It does not run yet. */
export function createFleet(options: FleetOptions): Fleet {
  const { directory, dataDirectory } = options;
  const parts: Partial<Parts> = {};
  const filler = join(dataDirectory, "filler");
  const get = <K extends keyof Parts>(name: K): Parts[K] => {
    const part = parts[name];
    if (part === undefined) throw new Error(`The platform was not started: there is no ${name}.`);
    return part;
  };
  return {
    dataDirectory,
    start: async () => {
      parts.database = await createFaultyDatabase({
        directory: join(directory, "postgres"),
        port: options.databasePort,
        prefix: options.network.prefix,
        listenAddresses: options.network.listenAddresses,
      });
      await parts.database.start();
      parts.ships = await createShips(options);
      // The first one migrates the database.
      for (const name of MEMBERS) await parts.ships[name].start();
      await parts.database.stepClock(0);
      parts.login = await parts.ships.control.platform().readLogin();
    },
    database: () => get("database"),
    ships: () => get("ships"),
    login: () => get("login"),
    fillDisk: () => within("the disk to be full", FILL_WITHIN_MS, fill(filler)),
    freeDisk: () => within("the disk to be freed", FILL_WITHIN_MS, rm(filler, { force: true })),
    close: async () => {
      const ships = Object.values(parts.ships ?? {});
      // Not killed: Node.js writes down what it has compiled, and the next campaign starts sooner.
      await Promise.all(ships.map((ship) => ship.stop().catch(() => ship.kill())));
      await Promise.all(ships.map(({ way }) => way.close()));
      await parts.database?.close();
    },
  };
}

interface Parts {
  database: FaultyDatabase;
  ships: Readonly<Record<Member, Ship>>;
  login: Login;
}

async function createShips(options: FleetOptions): Promise<Readonly<Record<Member, Ship>>> {
  const ports = await Promise.all(
    MEMBERS.map(async () => [await findFreePort(), await findFreePort()] as const),
  );
  const [gatewayPort = 0] = ports[MEMBERS.indexOf("gateway-1")] ?? [];
  const settings = {
    "lease-seconds": LEASE_SECONDS,
    "drain-seconds": 3,
    "min-free-disk": 0.02,
    "worker-cpu": 4,
    "worker-memory": 4,
    "webhook-open": "127.0.0.1",
    "gateway-url": `http://127.0.0.1:${gatewayPort}`,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const ships = await Promise.all(
    MEMBERS.map(async (name, index) => {
      const way = await options.network.openWay(ON_CABLES.has(name) ? "cable" : "proxy");
      return [name, createShip({ ...options, name, way, flags, ports: ports[index] ?? [0, 0] })] as const;
    }),
  );
  return Object.fromEntries(ships) as Record<Member, Ship>;
}

interface ShipOptions extends Pick<FleetOptions, "directory" | "dataDirectory"> {
  readonly name: Member;
  readonly way: Way;
  readonly flags: readonly string[];
  /** Of gateway and platform API. */
  readonly ports: readonly [number, number];
}

function createShip({ name, way, directory, dataDirectory, flags, ports }: ShipOptions): Ship {
  const clock = join(directory, `clock-${name}`);
  const [node, ...words] = PLATFORM_COMMAND;
  const options: StartOptions = {
    dataDirectory,
    role: ROLES[name],
    gatewayPort: ports[0],
    apiPort: ports[1],
    flags,
    command: [node, "--import", CLOCK, ...words],
    bootstrapFile: join(directory, "bootstrap.json"),
    environment: {
      DATABASE_URL: `postgresql://platform@${way.host}:${way.port}/platform`,
      FAULTS_CLOCK_FILE: clock,
    },
  };
  const kept = keepUp(name, () => spawnPlatform(options));
  return {
    name,
    way,
    platform: kept.platform,
    takeExits: kept.takeExits,
    kill: () => kept.end("SIGKILL"),
    stop: () => kept.end("SIGTERM"),
    start: kept.start,
    awaitReady: kept.awaitReady,
    signal: (signal) => {
      try {
        kill(kept.platform().process.pid ?? Number.NaN, signal);
      } catch {
        // It has ended by itself, and is being started again.
      }
    },
    stepClock: (seconds) => writeFile(clock, String(seconds * 1_000)),
  };
}

interface Kept {
  readonly platform: () => PlatformProcess;
  readonly start: () => Promise<void>;
  readonly awaitReady: () => Promise<void>;
  readonly end: (signal: "SIGKILL" | "SIGTERM") => Promise<void>;
  readonly takeExits: () => readonly Exit[];
}

/** Starts a process again that ends by itself, as an operator's init system does: a worker whose event loop hangs past its lease ends itself. */
function keepUp(name: Member, spawn: () => Promise<PlatformProcess>): Kept {
  let platform: PlatformProcess | null = null;
  const exits = createExitList(name);
  let count = 0;
  /** Only the latest start may spawn; each end makes those before it void. */
  let turn = 0;
  let latest: Promise<void> = Promise.resolve();
  const start = () => {
    latest = tryStart(++turn);
    // Who waits is told; nobody may.
    latest.catch(() => undefined);
    return latest;
  };
  const tryStart = async (mine: number): Promise<void> => {
    const started = await spawn();
    if (mine !== turn) return await started.kill();
    platform = started;
    try {
      await waitUntilReady(started);
    } catch (error) {
      if (mine !== turn) return;
      if (!hasEnded(started) || ++count > MAX_EXITS) throw error;
      exits.add(started, false);
      await delay(REST_MS);
      return mine === turn ? await tryStart(mine) : undefined;
    }
    watch(started, mine);
  };
  const watch = (started: PlatformProcess, mine: number) => {
    const restart = () => {
      if (mine !== turn) return;
      exits.add(started, true);
      void start();
    };
    if (hasEnded(started)) restart();
    else started.process.once("exit", restart);
  };
  const awaitLatest = async () => {
    let seen: Promise<void>;
    do {
      seen = latest;
      await seen;
    } while (seen !== latest);
  };
  return {
    platform: () => {
      if (platform === null) throw new Error("The process was never started.");
      return platform;
    },
    start,
    awaitReady: () => within(`${name} to be ready`, REPAIR_WITHIN_MS, awaitLatest()),
    end: async (signal) => {
      turn++;
      if (platform === null) return;
      await end(name, platform, signal);
    },
    takeExits: exits.take,
  };
}

async function end(name: Member, platform: PlatformProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  await (signal === "SIGKILL"
    ? within(`the end of ${name} by SIGKILL`, KILL_WITHIN_MS, platform.kill())
    : within(`the end of ${name} by SIGTERM`, STOP_WITHIN_MS, platform.stop()));
}

/** Writes until there is no room. What is freed meanwhile is not taken. */
async function fill(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path));
  const file = await open(path, "w");
  try {
    for (let left = bavail * bsize; left > 0; left -= MEGABYTE) {
      await file.writeFile(Buffer.alloc(Math.min(left, MEGABYTE), "x"));
      await delay(0);
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    await file.close();
  }
}
