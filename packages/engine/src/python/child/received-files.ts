import { isUtf8 } from "node:buffer";
import { explainFileName, foldName } from "@platform/contract/file-name";
import { isRecord } from "../../base/json.ts";
import type { Settings } from "../port/settings.ts";
import type { RunOutput } from "../port/runtime.ts";
import { receiveContent } from "./content-receiver.ts";
import type { ContentReceiver } from "./content-receiver.ts";

/** What is not returned, and why. */
export interface OmittedFile {
  readonly name: string;
  readonly reason: string;
}

/** What a file belongs to: the result, or the output pool. */
type Place = "files" | "poolFiles";

/** Files on their way from a run, one after the other. */
export interface ReceivedFiles {
  /** Each returns what is too much, as a sentence; null: nothing is. */
  readonly begin: (name: Buffer, place: Place) => string | null;
  readonly push: (piece: Buffer) => string | null;
  readonly isBehind: () => boolean;
  /** No more come. Rejects where one could not be stored; the caller abandons the others then. */
  readonly finish: () => Promise<Pick<RunOutput, Place>>;
  readonly listOmitted: () => readonly OmittedFile[];
  /** Nobody wants them. */
  readonly abandon: () => void;
}

/** Links of a result that are no files. */
const TAKEN = new Set(["self", "status"]);
const MAX_SHOWN = 200;

/** Both count together. */
const SHOWN = {
  files: "OUTPUT_DIRECTORY",
  poolFiles: "The output pool, together with OUTPUT_DIRECTORY,",
} as const;

/** How they are received. */
export interface ReceivedFilesOptions extends Pick<Settings, "files" | "explainPoolName"> {
  readonly results: NonNullable<Settings["results"]>;
  /** More can be pushed. */
  readonly onDrained: () => void;
}

/** Nothing is stored before the first one begins. */
export function receiveFiles({
  results,
  files: limits,
  explainPoolName,
  onDrained,
}: ReceivedFilesOptions): ReceivedFiles {
  const files: { readonly name: string; readonly place: Place; readonly receiver: ContentReceiver }[] = [];
  const names = createNames(explainPoolName);
  let current: ContentReceiver | null = null;
  let bytes = 0;
  return {
    begin: (text, place) => {
      current?.end();
      current = null;
      if (names.count() >= limits.count)
        return `${SHOWN[place]} has too many entries, the limit is ${limits.count} entries.`;
      const name = names.admit(text, place);
      if (name === null) return null;
      current = receiveContent(results, limits.bytes, onDrained);
      files.push({ name, place, receiver: current });
      return null;
    },
    push: (piece) => {
      bytes += piece.length;
      if (bytes > limits.bytes)
        return `${SHOWN[files.at(-1)?.place ?? "files"]} has too large files, the limit is ${limits.bytes} bytes.`;
      current?.push(piece);
      return null;
    },
    isBehind: () => current?.isBehind() === true,
    finish: async () => {
      current?.end();
      const received = await Promise.all(
        files.map(async ({ name, place, receiver }) => ({ name, place, content: await receiver.received })),
      );
      const listOf = (wanted: Place) =>
        received.flatMap(({ name, place, content }) => (place === wanted ? [{ name, content }] : []));
      const poolFiles = listOf("poolFiles");
      return { files: listOf("files"), ...(poolFiles.length === 0 ? {} : { poolFiles }) };
    },
    listOmitted: () => names.omitted,
    abandon: () => {
      for (const { receiver } of files) receiver.abandon();
    },
  };
}

function createNames(explainPoolName: Settings["explainPoolName"]) {
  const omitted: OmittedFile[] = [];
  const folded = { files: new Set<string>(), poolFiles: new Set<string>() } as const;
  return {
    omitted,
    count: () => folded.files.size + folded.poolFiles.size + omitted.length,
    /** The name; null: no file can have it. */
    admit: (text: Buffer, place: Place): string | null => {
      const name = text.toString("utf8");
      const reason = isUtf8(text)
        ? (explainName(name, place, folded[place]) ?? (place === "files" ? null : explainPoolName(name)))
        : "Its name is not UTF-8.";
      if (reason === null) folded[place].add(foldName(name));
      else omitted.push({ name: cut(name, MAX_SHOWN), reason: `${PREFIX[place]}${reason}` });
      return reason === null ? name : null;
    },
  };
}

const PREFIX = { files: "", poolFiles: "In the output pool: " } as const;

function explainName(name: string, place: Place, folded: ReadonlySet<string>): string | null {
  if (place === "files" && TAKEN.has(name)) return "The result has another link of this name.";
  const reason = explainFileName(name);
  if (reason !== null) return reason;
  return folded.has(foldName(name)) ? "Another file has this name, but for upper and lower case." : null;
}

const MAX_REASON = 100;

/** Half a character becomes a whole one. */
function cut(text: string, length: number): string {
  return Buffer.from(text.slice(0, length)).toString("utf8");
}

/** What the runner has left out, at most `count`; null: user code has written it. */
export function readOmitted(payload: Buffer, count: number): readonly OmittedFile[] | null {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString("utf8"));
  } catch {
    return null;
  }
  if (!Array.isArray(value) || value.length > count) return null;
  const omitted: OmittedFile[] = [];
  for (const item of value as readonly unknown[]) {
    if (!Array.isArray(item) || isRecord(item) || item.length !== 2) return null;
    const [name, reason] = item as readonly unknown[];
    if (typeof name !== "string" || typeof reason !== "string") return null;
    omitted.push({ name: cut(name, MAX_SHOWN), reason: cut(reason, MAX_REASON) });
  }
  return omitted;
}
