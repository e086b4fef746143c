import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RequestRefused } from "@platform/contract/client";
import type { Build } from "@platform/contract/platform-api/builds";
import type { Service } from "@platform/contract/platform-api/services";
import type { PackedProject } from "@platform/engine/project/pack";
import type { CommandContext } from "../base/context.ts";
import { createInterruption } from "../base/errors.ts";
import { findServiceByName } from "./find-service.ts";
import { cleanText, formatSize } from "../base/output.ts";
import type { Progress } from "../base/output.ts";
import type { Session } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";

const POLL_INTERVAL_MS = 500;
const CHUNK_BYTES = 64 * 1024;
/** Limit of the platform (contract: createService). */
const MAX_DESCRIPTION_CHARACTERS = 65_536;

/** Which version to build, as query of createVersion. Default: the next patch version. */
export interface VersionRequest {
  readonly bump?: "minor" | "major";
  /** MAJOR.MINOR.PATCH. */
  readonly version?: string;
  /** Accept an incompatible input schema. */
  readonly force?: "true";
}

/** Outcome of `up`. */
export interface Deployment {
  readonly service: Service;
  /** That has ended, with the whole log. */
  readonly build: Build;
  readonly packed: PackedProject;
  /** False: a version with this content already existed. */
  readonly changed: boolean;
}

/**
 * Packs the project in the working directory, uploads it and follows its build to the end.
 *
 * @throws ProjectError, RequestRefused, network errors; UserError INTERRUPTED while it is built
 */
export async function deployProject(
  context: CommandContext,
  session: Session,
  request: VersionRequest,
): Promise<Deployment> {
  const { packProject } = await import("@platform/engine/project/pack");
  const progress = context.output.startProgress("Packing the project");
  try {
    const packed = await packProject(context.directory, {
      onProgress: ({ done, total }) => progress.detail(`${done} of ${total} files`),
    });
    const deploying = { context, session, packed, progress };
    const service = await ensureService(deploying);
    progress.step(`Uploading ${packed.files} files (${formatSize(packed.archive.length)})`);
    const uploaded = await upload(deploying, service, request);
    if (uploaded.changed) progress.step(`Building ${service.name} ${uploaded.build.version}`);
    const build = await followBuild(deploying, service, uploaded.build);
    if (!build.terminal)
      throw createInterruption(
        `The build of ${build.version} continues; see 'platform versions ${service.name}'.`,
      );
    return { service, build, packed, changed: uploaded.changed };
  } finally {
    progress.stop();
  }
}

/** State of one deployment. */
interface Deploying {
  readonly context: CommandContext;
  readonly session: Session;
  readonly packed: PackedProject;
  readonly progress: Progress;
}

async function ensureService({ context, session, packed, progress }: Deploying): Promise<Service> {
  const { client } = session;
  const { name } = packed.project;
  const found = await findServiceByName(client, name);
  if (found !== null) return found;
  progress.step(`Creating the service '${name}'`);
  const description = await readDescription(context.directory, packed.project.descriptionFile);
  try {
    return await client.createService({ body: { name, ...(description === null ? {} : { description }) } });
  } catch (error) {
    // A concurrent deployment has created the service in the meantime: use it.
    const created =
      error instanceof RequestRefused && error.status === 409 ? await findServiceByName(client, name) : null;
    if (created === null) throw error;
    return created;
  }
}

async function readDescription(directory: string, file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const text = await readFile(join(directory, file), "utf8");
  return text.slice(0, MAX_DESCRIPTION_CHARACTERS);
}

async function upload(
  { context, session, packed, progress }: Deploying,
  service: Service,
  request: VersionRequest,
): Promise<{ readonly build: Build; readonly changed: boolean }> {
  let status = 0;
  const client = session.connect({
    onStatus: (seen) => {
      status = seen;
    },
  });
  const build = await client.createVersion({
    params: { key: service.key },
    query: request,
    body: createUploadStream(packed.archive, (sent) =>
      progress.detail(`${Math.round((100 * sent) / packed.archive.length)} %`),
    ),
    signal: context.signal,
  });
  return { build, changed: status === 201 };
}

/** Streams the archive in chunks, as fast as the network accepts them; `onSent` gets the number of bytes so far. */
function createUploadStream(
  archive: Uint8Array,
  onSent: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (sent >= archive.length) {
          controller.close();
          return;
        }
        const chunk = archive.subarray(sent, sent + CHUNK_BYTES);
        sent += chunk.length;
        controller.enqueue(chunk);
        onSent(sent);
      },
    },
    { highWaterMark: 1 },
  );
}

async function followBuild(
  { context, session, progress }: Deploying,
  service: Service,
  first: Build,
): Promise<Build> {
  const lines: string[] = [];
  let build = first;
  const show = () => {
    for (const line of build.log) {
      lines.push(line);
      progress.print(`  ${cleanText(line)}`);
    }
  };
  const sayTurn = createTurnWords(progress, `Building ${service.name} ${first.version}`);
  if (!first.terminal) show();
  while (!build.terminal && !context.signal.aborted) {
    await pause(POLL_INTERVAL_MS, context.signal);
    const query = { offset: build.nextOffset };
    const params = { key: service.key, version: build.version };
    if (!context.signal.aborted)
      build = await retryRead(() => session.client.getBuild({ params, query }), context.signal);
    sayTurn(build);
    show();
  }
  return { ...build, log: lines };
}

/** Says how many builds come before, where there are any, each time that their number changes; and then that it is built. */
function createTurnWords(progress: Progress, building: string): (build: Build) => void {
  let said = 0;
  return ({ buildsBefore = 0 }) => {
    if (buildsBefore === said) return;
    said = buildsBefore;
    if (said === 0) progress.step(building);
    else progress.step(`Waiting: ${said} ${said === 1 ? "build is" : "builds are"} before it`);
  };
}
