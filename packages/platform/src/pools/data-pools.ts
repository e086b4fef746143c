import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { FileReference } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { formatGigabytes } from "@platform/engine/base/bytes";
import { SECOND } from "@platform/engine/base/time";
import type { JsonCheck } from "@platform/engine/json-check/json-check";
import type { JsonForm } from "@platform/engine/json-check/json-form";
import { parsePointer } from "@platform/engine/json-check/pointer";
import type { JsonPointer } from "@platform/engine/json-check/pointer";
import type { InputPin } from "@platform/engine/python/port/runtime";
import type { InputSource } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import { ObjectDamaged, ObjectMissing, StoreUnavailable } from "../objects/object-store.ts";
import type { Objects } from "../objects/object-store.ts";
import type { ReferredFile } from "../store/pools/references.ts";
import { createLooks } from "./looks.ts";
import type { Looks } from "./looks.ts";
import { pinPools } from "./pin-pools.ts";
import type { PinPoolsOptions } from "./pin-pools.ts";

/** What references are followed with. */
export interface DataPoolsOptions extends PinPoolsOptions {
  readonly objects: Pick<Objects, "fetchTo">;
  readonly jsonCheck: Pick<JsonCheck, "ask">;
  /** For files that are looked at; below it nothing lasts. */
  readonly directory: string;
  /** Of the largest file that an execution reads. */
  readonly maxBytes: number;
}

/** A start waits so long to learn whether a file is a JSON object; the look goes on. */
const PATIENCE = 30 * SECOND;

/** An organisation has so many files of the largest size looked at. */
const LOOKS_AT_ONCE = 4;

/** Input from the data pools of the platform. */
export function createDataPools(options: DataPoolsOptions): InputSource {
  const looks = createLooks(LOOKS_AT_ONCE * options.maxBytes);
  return {
    pin: (reference, owner) => pin(options, looks, { reference, owner }),
    pinPools: (dataPoolIds, owner) => pinPools(options, dataPoolIds, owner),
    place: async ({ sha256 }, path) => {
      try {
        await options.objects.fetchTo(sha256, path);
        return "placed";
      } catch (error) {
        if (error instanceof ObjectMissing) return "gone";
        // The disk of this machine is full, or broken.
        if (!(error instanceof StoreUnavailable || error instanceof ObjectDamaged)) throw error;
        return refuseUnread(error);
      }
    },
  };
}

/** A reference of an owner. */
interface Asked {
  readonly reference: FileReference;
  readonly owner: Owner;
}

async function pin(options: DataPoolsOptions, looks: Looks, { reference, owner }: Asked): Promise<InputPin> {
  const pointer = parsePointer(reference.pointer ?? "");
  if ("fault" in pointer) throw new Problem("DATA_REFERENCE_INVALID", `The pointer ${pointer.fault}.`);
  const file = await options.references.find(reference, owner);
  if (file === null) throw new Problem("DATA_REFERENCE_INVALID");
  const { hash: sha256, bytes } = file;
  if (bytes > options.maxBytes)
    throw new Problem(
      "DATA_REFERENCE_INVALID",
      `The file has ${formatGigabytes(bytes)} GB; an execution reads at most ${formatGigabytes(options.maxBytes)} GB by reference.`,
    );
  const form = await findForm(options, looks, { file, pointer, reference, owner });
  if (form.form === "other")
    throw new Problem("DATA_REFERENCE_INVALID", `The file is not a JSON object: ${form.detail}.`);
  const part = pointer.length === 0 ? {} : { range: form.range };
  return { ...reference, sha256, bytes, ...part };
}

/** A file, and the part of it that is asked for. */
interface Question extends Asked {
  readonly file: ReferredFile;
  readonly pointer: JsonPointer;
}

async function findForm(options: DataPoolsOptions, looks: Looks, question: Question): Promise<JsonForm> {
  const { file, pointer, owner } = question;
  const { hash, bytes, form, formDetail } = file;
  if (form === "other") return { form, detail: formDetail ?? "it was looked at before" };
  if (form === "object" && pointer.length === 0) return { form, range: { start: 0, end: bytes } };
  const key = JSON.stringify([hash, ...pointer]);
  const size = { organisationId: owner.organisationId, bytes };
  const looking = looks.share(key, size, () => look(options, question));
  const patience = new AbortController();
  try {
    const found = await Promise.race([looking, giveUp(patience.signal)]);
    await requireStill(options, question);
    return found;
  } finally {
    patience.abort();
  }
}

/** What may be read can have changed while the file was looked at. @throws Problem DATA_REFERENCE_INVALID */
async function requireStill({ references }: DataPoolsOptions, { reference, owner }: Asked): Promise<void> {
  if ((await references.find(reference, owner)) === null) throw new Problem("DATA_REFERENCE_INVALID");
}

async function giveUp(signal: AbortSignal): Promise<never> {
  await wait(PATIENCE, undefined, { signal, ref: false }).catch(() => undefined);
  throw new Problem(
    "UNAVAILABLE",
    "It is still being found out whether the file is a JSON object; nothing was accepted. Start again in a few seconds.",
    { headers: { "retry-after": "5" } },
  );
}

function refuseUnread(cause: unknown): never {
  throw new Problem("UNAVAILABLE", "The file cannot be read at present; try again in a minute.", {
    headers: { "retry-after": "60" },
    cause,
  });
}

/** What is found of the whole file is kept: it is asked once for each content. */
async function look(
  { objects, jsonCheck, references, directory }: DataPoolsOptions,
  { file, pointer, owner }: Question,
): Promise<JsonForm> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, randomUUID());
  try {
    await objects.fetchTo(file.hash, path).catch(refuseUnread);
    const form = await jsonCheck.ask(owner.organisationId, { path, pointer }).catch(refuseUnread);
    if (pointer.length === 0) {
      const detail = form.form === "other" ? form.detail : null;
      await references.setForm(file.hash, { isObject: form.form === "object", detail });
    }
    return form;
  } finally {
    await rm(path, { force: true });
  }
}
