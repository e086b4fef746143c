import { createWriteStream } from "node:fs";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ExecutionDetails } from "@platform/contract/platform-api/executions";
import { RequestRefused } from "@platform/contract/client";
import { isRecord } from "@platform/engine/base/json";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { UserError } from "../base/errors.ts";
import { createExactJson } from "../base/exact-json.ts";
import type { Session } from "../base/session.ts";
import { readRefusal } from "../pools/transfer.ts";
import { readUnverified } from "../receipts/read-unverified.ts";

/** An execution of a platform, with what it was made of. */
export interface Original {
  readonly details: ExecutionDetails;
  /** The body of the start; without `persistTo`, which would store the result once more, the time that it was to begin at, and who was to be told of it. */
  readonly body: Uint8Array;
  /** The answer of the result operation. */
  readonly answer: Uint8Array;
  /** What its receipt says; empty: it has none that can be had (those of applications are for them). */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** More than any platform accepts by default; one that sends without an end is not heard further. */
const MAX_ARCHIVE_BYTES = 1_024 * MEGABYTE;

/**
 * Reads an ended execution, and writes the archive of its version to a file.
 *
 * @throws UserError NOT_FINISHED, INVALID_ANSWER; RequestRefused
 */
export async function fetchOriginal(session: Session, id: string, archive: string): Promise<Original> {
  const details = await session.client.getExecution({ params: { id } });
  if (!details.terminal)
    throw new UserError("NOT_FINISHED", `The execution is still ${details.status}.`, {
      hint: "An execution that has ended can be replayed.",
    });
  const path = `/executions/${encodeURIComponent(details.id)}`;
  const body = await readBytes(session, `${path}/input`);
  const answer = await readBytes(session, `${path}/result`);
  await fetchArchive(session, details, archive);
  return { details, body: withoutTarget(body), answer, claims: await readClaims(session, details.id) };
}

async function request(session: Session, path: string): Promise<Response> {
  const response = await session.send(path, {});
  if (!response.ok) throw await readRefusal(response);
  return response;
}

async function readBytes(session: Session, path: string): Promise<Uint8Array> {
  return new Uint8Array(await (await request(session, path)).arrayBuffer());
}

async function fetchArchive(
  session: Session,
  { service, version }: ExecutionDetails,
  target: string,
): Promise<void> {
  const path = `/services/${encodeURIComponent(service.key)}/versions/${encodeURIComponent(version)}/archive`;
  const { body } = await request(session, path);
  if (body === null) throw new UserError("INVALID_ANSWER", "The platform sent no archive.");
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength;
      const isTooLarge = bytes > MAX_ARCHIVE_BYTES;
      done(
        isTooLarge ? new UserError("INVALID_ANSWER", "The archive of the version does not end.") : null,
        chunk,
      );
    },
  });
  await pipeline(Readable.from(body as AsyncIterable<Uint8Array>), limit, createWriteStream(target));
}

async function readClaims({ client }: Session, id: string): Promise<Original["claims"]> {
  try {
    return readUnverified((await client.getJobReceipt({ params: { id } })).receipt);
  } catch (error) {
    if (error instanceof RequestRefused) return {};
    throw error;
  }
}

const LEFT_OUT = ["persistTo", "startAt", "webhookUrl", "startWithin"];

/** Where there is none of these, the bytes are those that were sent. */
function withoutTarget(body: Uint8Array): Uint8Array {
  const { parse, stringify } = createExactJson();
  const value = parse(Buffer.from(body).toString());
  if (!isRecord(value) || !LEFT_OUT.some((key) => key in value)) return body;
  const { persistTo: _target, startAt: _time, webhookUrl: _url, startWithin: _deadline, ...rest } = value;
  return Buffer.from(stringify(rest));
}
