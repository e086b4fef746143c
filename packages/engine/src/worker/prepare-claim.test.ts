import { beforeEach, expect, test } from "vitest";
import type { Claim, InputSource } from "../store/execution-store.ts";
import { prepareClaim } from "./prepare-claim.ts";
import type { PrepareDeps } from "./prepare-claim.ts";
import { createDeferred } from "../base/deferred.ts";
import { VERSION } from "../testing/version.ts";
import { createOwner } from "../testing/execution-fixtures.ts";
import { ProjectError } from "../project/project-error.ts";

const CLAIM: Claim = {
  id: "execution",
  owner: createOwner(),
  versionId: "version",
  resources: { cpu: 1, memory: 1 },
  // Not what bounds the preparation: it begins with user code.
  timeoutSeconds: 3600,
  body: Buffer.from("{}"),
  references: {},
  attempt: 1,
  workerId: "worker",
  setbacks: 0,
};

const REFERENCE = { dataPoolId: "pool", dataSourceDescriptorId: "descriptor", fileId: "file" };
const PIN = { ...REFERENCE, sha256: "0".repeat(64), bytes: 2 };
const PINS = { pin: async () => PIN, pinPools: async () => [] };
const GONE: InputSource = { ...PINS, place: async () => "gone" };
const PLACED: InputSource = { ...PINS, place: async () => "placed" };
const BY_REFERENCE: Claim = { ...CLAIM, references: { data: PIN } };

const prepare = async () => VERSION;
const broken = async () => Promise.reject(new ProjectError("BUILD_FAILED", "own==1 is gone."));

let discarded: number;
const runtime: PrepareDeps["runtime"] = {
  stageInputs: async (fill) => {
    await fill({
      locate: (name) => `/folder/${name}`,
      makePool: async (number) => `/folder/pool-${number}`,
    });
    return { bytes: { data: 2 }, moveTo: () => "folder", discard: () => void (discarded += 1) };
  },
};

/** What the store was told, in order; it says that the claim is held while `isHeld`. */
let noted: boolean[];
let isHeld: boolean;
const store: PrepareDeps["store"] = {
  notePreparing: async (_claim, isPreparing) => {
    noted.push(isPreparing);
    return isHeld;
  },
};

beforeEach(() => {
  discarded = 0;
  noted = [];
  isHeld = true;
});

test("a version that never gets ready is given up at the preparation's own limit, and its source is told to stop", async () => {
  const stopped: unknown[] = [];
  const prepared = await prepareClaim(
    {
      versions: {
        prepare: (_id, signal) => {
          signal.addEventListener("abort", () => stopped.push(signal.reason));
          return new Promise(() => undefined);
        },
      },
      inputs: GONE,
      runtime,
      store,
    },
    CLAIM,
    new AbortController().signal,
    20,
  );
  expect(prepared).toMatchObject({
    kind: "fault",
    cause: { message: expect.stringContaining("longer than") },
  });
  expect(stopped).toHaveLength(1);
});

test.each([
  ["what the version brings along", new ProjectError("BUILD_FAILED", "own==1 is gone."), "version"],
  ["something of ours", new Error("The disk is full."), "worker"],
] as const)("where %s keeps it from getting ready, only that is left out", async (_, cause, scope) => {
  const error = new Error("The live version could not be made ready again.", { cause });
  const prepared = await prepareClaim(
    {
      versions: { prepare: async () => Promise.reject(error) },
      inputs: GONE,
      runtime,
      store,
    },
    CLAIM,
    new AbortController().signal,
  );
  expect(prepared).toMatchObject({ kind: "fault", scope, cause: error });
});

test("what is ready owns its input; what is gone, or cannot be prepared, leaves none behind", async () => {
  const { signal } = new AbortController();
  expect(
    await prepareClaim({ versions: { prepare }, inputs: PLACED, runtime, store }, BY_REFERENCE, signal),
  ).toMatchObject({
    kind: "ready",
    input: { referred: { pins: { data: PIN }, files: { bytes: { data: 2 } } } },
  });
  expect(discarded).toBe(0);
  expect(
    await prepareClaim({ versions: { prepare }, inputs: GONE, runtime, store }, BY_REFERENCE, signal),
  ).toMatchObject({
    outcome: {
      code: "DATA_REFERENCE_UNAVAILABLE",
      detail: "The file that dataRef names is gone, or is not what it was when the execution was started.",
    },
  });
  expect(discarded).toBe(1);
  expect(
    await prepareClaim(
      { versions: { prepare: broken }, inputs: PLACED, runtime, store },
      BY_REFERENCE,
      signal,
    ),
  ).toMatchObject({ outcome: { code: "STARTUP_ERROR" } });
  await expect.poll(() => discarded).toBe(2);
});

test("an input that comes after the preparation was given up is discarded", async () => {
  const giveUp = new AbortController();
  const placed = createDeferred<"placed">();
  const prepared = prepareClaim(
    {
      versions: { prepare: async () => VERSION },
      inputs: { ...PLACED, place: () => placed.promise },
      runtime,
      store,
    },
    BY_REFERENCE,
    giveUp.signal,
  );
  giveUp.abort(new Error("The execution was cancelled."));
  expect(await prepared).toMatchObject({ kind: "fault" });
  expect(discarded).toBe(0);
  placed.resolve("placed");
  await expect.poll(() => discarded).toBe(1);
});

test("it is noted that input is being fetched, and no longer when it is ready; nothing is where there is none", async () => {
  const { signal } = new AbortController();
  const seen: boolean[][] = [];
  const inputs: InputSource = {
    ...PINS,
    place: async () => {
      seen.push([...noted]);
      return "placed";
    },
  };
  await prepareClaim({ versions: { prepare }, inputs, runtime, store }, BY_REFERENCE, signal);
  expect([seen, noted]).toEqual([[[true]], [true, false]]);
  await prepareClaim({ versions: { prepare }, inputs, runtime, store }, CLAIM, signal);
  expect(noted).toHaveLength(2);
});

test("a claim that was lost while input was fetched is not ready, and leaves no input behind", async () => {
  const inputs: InputSource = {
    ...PINS,
    place: async () => {
      isHeld = false;
      return "placed";
    },
  };
  const { signal } = new AbortController();
  const prepared = await prepareClaim(
    { versions: { prepare }, inputs, runtime, store },
    BY_REFERENCE,
    signal,
  );
  expect(prepared).toMatchObject({ kind: "fault", scope: "version" });
  await expect.poll(() => discarded).toBe(1);
});

test("executions of a backend are run apart by organisation, those of a service together", async () => {
  const deps = { versions: { prepare }, inputs: GONE, runtime, store };
  const prepareFor = async (kind: "service" | "backend") =>
    prepareClaim({ ...deps, kind }, CLAIM, new AbortController().signal);
  expect(await prepareFor("service")).toHaveProperty("version", VERSION);
  expect(await prepareFor("backend")).toMatchObject({
    kind: "ready",
    version: { ...VERSION, tenant: CLAIM.owner.organisationId },
  });
});
