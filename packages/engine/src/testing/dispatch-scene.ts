import { linkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createUuidV7 } from "../base/uuid.ts";
import { createDispatcher } from "../worker/dispatcher.ts";
import type { Dispatcher, DispatcherOptions } from "../worker/dispatcher.ts";
import type { LogFields } from "../base/logger.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import type { ExecutionRecord, ExecutionStore, NewExecution } from "../store/execution-store.ts";
import { createFixture } from "./python-fixture.ts";
import type { Fixture } from "./python-fixture.ts";
import { createOwner } from "./execution-fixtures.ts";
import type { RunnableVersion } from "../python/port/runtime.ts";
import { SILENT } from "./silent-logger.ts";

export const OWNER = "owner";
export const WITHIN = { interval: 10 };

interface LoggedLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: LogFields;
  readonly message: string;
}

/** A store in memory, real Python, and as many dispatchers on them as a test wants. */
export interface DispatchScene {
  readonly fixture: Fixture;
  readonly store: ExecutionStore;
  /** By fileId. */
  readonly files: Map<string, string>;
  /** What all dispatchers logged. */
  readonly logged: readonly LoggedLine[];
  readonly sources: Pick<DispatcherOptions, "versions" | "inputs">;
  /** Stopped when the scene is closed. */
  readonly createDispatcher: (overrides?: Partial<DispatcherOptions>) => Dispatcher;
  /** Starts an execution of a version of its own, which finds the socket at this path as `line`; gives its id. */
  readonly start: (
    program: string,
    change?: Partial<NewExecution> & { readonly json?: unknown; readonly line?: string },
  ) => Promise<string>;
  /** Stops a dispatcher that runs on the fixture's runtime as its process does: drained, the runtime closed, closed. */
  readonly stop: (dispatcher: Dispatcher, seconds: number) => Promise<void>;
  readonly find: (id: string) => Promise<ExecutionRecord>;
  readonly statusOf: (id: string) => Promise<ExecutionRecord["status"]>;
  readonly close: () => Promise<void>;
}

export async function createDispatchScene(): Promise<DispatchScene> {
  const fixture = await createFixture();
  const store = createMemoryStore();
  const versions = new Map<string, RunnableVersion>();
  const files = new Map<string, string>();
  const dispatchers: Dispatcher[] = [];
  const logged: LoggedLine[] = [];
  const record = (level: LoggedLine["level"]) => (fields: LogFields, message: string) =>
    void logged.push({ level, fields, message });
  const sources: DispatchScene["sources"] = {
    versions: {
      prepare: async (id) => {
        const version = versions.get(id);
        if (version === undefined) throw new Error(`no version ${id}`);
        return version;
      },
    },
    inputs: {
      pin: async () => {
        throw new Error("Nothing is started here.");
      },
      pinPools: async () => [],
      place: async ({ fileId }, path) => {
        const file = files.get(fileId);
        if (file === undefined) return "gone";
        writeFileSync(path, file);
        return "placed";
      },
    },
  };
  const find = async (id: string) => {
    const found = await store.find(id, OWNER);
    if (found === null) throw new Error(`no execution ${id}`);
    return found;
  };
  return {
    fixture,
    store,
    files,
    logged,
    sources,
    createDispatcher: (overrides = {}) => {
      const dispatcher = createDispatcher({
        store,
        ...sources,
        runtime: fixture.runtime,
        workerId: createUuidV7(),
        sandboxLevel: "B",
        capacity: { cpu: 2, memory: 4 },
        leaseSeconds: 30,
        logger: { ...SILENT, info: record("info"), warn: record("warn"), error: record("error") },
        ...overrides,
      });
      dispatchers.push(dispatcher);
      return dispatcher;
    },
    start: async (program, { json, line, ...change } = {}) => {
      const version = fixture.createVersion(program);
      if (line !== undefined) linkSync(line, join(version.projectDirectory, "line"));
      versions.set(version.id, version);
      const id = createUuidV7();
      await store.create({
        id,
        owner: createOwner(OWNER),
        versionId: version.id,
        resources: { cpu: 1, memory: 1 },
        timeoutSeconds: 120,
        body: Buffer.from(JSON.stringify(json ?? {})),
        references: {},
        ...change,
      });
      return id;
    },
    stop: async (dispatcher, seconds) => {
      await dispatcher.drain(seconds);
      await fixture.runtime.close();
      await dispatcher.close();
    },
    find,
    statusOf: async (id) => (await find(id)).status,
    close: async () => {
      for (const dispatcher of dispatchers) await dispatcher.drain(5);
      await fixture.close();
      for (const dispatcher of dispatchers) await dispatcher.close();
    },
  };
}
