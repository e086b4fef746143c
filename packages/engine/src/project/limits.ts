import { GIGABYTE, MEGABYTE } from "../base/bytes.ts";

/** Ceilings for a project, the same for packing and unpacking: what can be packed can be unpacked. */
export interface ProjectLimits {
  readonly files: number;
  /** Bytes of one file, unpacked. */
  readonly fileBytes: number;
  /** Bytes of all files, unpacked. */
  readonly totalBytes: number;
  /** Bytes of the archive itself. */
  readonly archiveBytes: number;
  /** Unpacked bytes per byte of archive; DEFLATE reaches 1032 at most. */
  readonly ratio: number;
  /** The ratio is checked only above this number of unpacked bytes: small files of zeros are no bomb. */
  readonly ratioFreeBytes: number;
}

/** The limits that apply unless a caller of packing or unpacking sets its own. */
export const DEFAULT_PROJECT_LIMITS: ProjectLimits = {
  files: 10_000,
  fileBytes: 512 * MEGABYTE,
  totalBytes: GIGABYTE,
  archiveBytes: 512 * MEGABYTE,
  ratio: 200,
  ratioFreeBytes: 64 * MEGABYTE,
};

/** Whether an archive is a ZIP bomb: its unpacked bytes exceed its own by more than the ratio. */
export function isBomb(unpackedBytes: number, archiveBytes: number, limits: ProjectLimits): boolean {
  return unpackedBytes > limits.ratioFreeBytes && unpackedBytes > archiveBytes * limits.ratio;
}

/** `1.5 GB`, `3 MB`, `17 bytes`: for messages. */
export function formatBytes(bytes: number): string {
  if (bytes >= GIGABYTE) return `${trimZeros(bytes / GIGABYTE)} GB`;
  if (bytes >= MEGABYTE) return `${trimZeros(bytes / MEGABYTE)} MB`;
  return `${bytes} bytes`;
}

function trimZeros(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}
