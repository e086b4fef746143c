import type { Resources } from "@platform/contract/project";
import { getCode } from "@platform/engine/base/thrown";

/** SQL for a timestamp as milliseconds since the epoch, in a form that `pg` reads as a number. */
export function selectMilliseconds(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`;
}

const MILLI = 1000;

/** Resources as stored: whole thousandths of a vCPU and of a GB (1024^3 bytes), so that sums are exact. */
export interface StoredResources {
  readonly cpu_milli: number;
  readonly memory_milli: number;
}

/** Rounds to whole thousandths, at least one. */
export function toStoredResources({ cpu, memory }: Resources): StoredResources {
  return {
    cpu_milli: Math.max(1, Math.round(cpu * MILLI)),
    memory_milli: Math.max(1, Math.round(memory * MILLI)),
  };
}

const MAX_INTEGER = 2_147_483_647;

/** Rounds free capacity down to whole thousandths. The small addend makes up for sums of fractions such as 0.1. */
export function toFreeThousandths(free: number): number {
  return Math.min(MAX_INTEGER, Math.floor(free * MILLI + 0.001));
}

/** vCPUs and GB of stored thousandths. */
export function fromStoredResources({ cpu_milli, memory_milli }: StoredResources): Resources {
  return { cpu: cpu_milli / MILLI, memory: memory_milli / MILLI };
}

/** The parts of MAJOR.MINOR.PATCH. */
export interface VersionNumber {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

const VERSION = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/u;

/** Null for a text that is not MAJOR.MINOR.PATCH; no version has such a number. */
export function parseVersion(text: string): VersionNumber | null {
  const [, major, minor, patch] = VERSION.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return null;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** `MAJOR.MINOR.PATCH`. */
export function formatVersion({ major, minor, patch }: VersionNumber): string {
  return `${major}.${minor}.${patch}`;
}

/** SQL: the version that a row `b` of `subscription` follows; `concat_ws` leaves out what is null: MAJOR.MINOR.PATCH, MAJOR, or an empty text. */
export const FOLLOWED = "nullif(concat_ws('.', b.major, b.minor, b.patch), '')";

/** SQL for the highest live version of a service as text; null: there is none. */
export function selectLatestVersion(serviceKey: string): string {
  return `(select concat_ws('.', v.major, v.minor, v.patch) from version v
    where v.service_key = ${serviceKey} and v.retired_at is null
    order by v.major desc, v.minor desc, v.patch desc limit 1)`;
}

/** Whether a statement failed since it violates this unique constraint. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    error instanceof Error &&
    getCode(error) === "23505" &&
    "constraint" in error &&
    error.constraint === constraint
  );
}

/** The name of the user who has requested the build of an alias; null: there is none. Former rows may name what is no id. */
export function selectRequester(alias: string): string {
  return `(select u.name from platform_user u where u.id =
    case when ${alias}.requested_by ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then ${alias}.requested_by::uuid end)`;
}
