import { Problem } from "@platform/contract/problems";
import { isRecord } from "../base/json.ts";
import { isUuid } from "../base/uuid.ts";
import { INPUT_NAMES } from "../python/port/runtime.ts";
import { requireFewPools } from "../store/pool-limits.ts";
import type { AcceptedBody } from "./start-body.ts";

/** A data pool that a start names in the place of a value. */
export interface NamedPool {
  /** `data` or `params`, and the member of it; none: the pool is all of it. */
  readonly path: readonly string[];
  readonly dataPoolId: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** `format` of the schemas that `DataPool` and `OutputPool` of the runner describe. */
type PoolFormat = "data-pool" | "output-pool";
const POINTER_START = "#/$defs/";

/**
 * The data pools that a run reads, of a body that the schema has accepted. The schema says where they stand: `data` and `params` themselves, and their
 * members; nowhere else, so that this takes no longer than the schema has members.
 *
 * @throws Problem INVALID_INPUT where the id is no UUID; DATA_REFERENCE_INVALID where there are too many
 */
export function findPools(
  schema: Schema | null,
  body: Pick<AcceptedBody, "data" | "params">,
): readonly NamedPool[] {
  const pools = findPlaces(schema, body, "data-pool");
  requireFewPools(pools.length);
  return pools;
}

/**
 * The data pool that gets files of the run, found as those that it reads; null: there is none.
 *
 * @throws Problem INVALID_INPUT where the id is no UUID; DATA_REFERENCE_INVALID where there are several
 */
export function findOutputPool(
  schema: Schema | null,
  body: Pick<AcceptedBody, "data" | "params">,
): NamedPool | null {
  const [pool = null, ...others] = findPlaces(schema, body, "output-pool");
  if (others.length === 0) return pool;
  throw new Problem("DATA_REFERENCE_INVALID", "A start names at most one output pool; this one names more.");
}

function findPlaces(
  schema: Schema | null,
  body: Pick<AcceptedBody, "data" | "params">,
  format: PoolFormat,
): readonly NamedPool[] {
  const parts = isRecord(schema?.["properties"]) ? schema["properties"] : null;
  if (schema === null || parts === null) return [];
  return INPUT_NAMES.flatMap((name) => {
    const part = resolve(schema, parts[name]);
    const given = body[name];
    if (given === undefined || part === null) return [];
    if (isPool(schema, part, format)) return [readPool([name], given)];
    const members = isRecord(part["properties"]) ? part["properties"] : {};
    return Object.entries(members).flatMap(([member, value]) =>
      Object.hasOwn(given, member) && given[member] !== null && isPool(schema, value, format)
        ? [readPool([name, member], given[member])]
        : [],
    );
  });
}

/** Also where it may be something else as well, such as null. */
function isPool(root: Schema, schema: unknown, format: PoolFormat): boolean {
  const resolved = resolve(root, schema);
  if (resolved === null) return false;
  if (resolved["format"] === format) return true;
  const { anyOf } = resolved;
  return Array.isArray(anyOf) && anyOf.some((one) => resolve(root, one)?.["format"] === format);
}

/** What the schema refers to, in one step. */
function resolve(root: Schema, schema: unknown): Schema | null {
  if (!isRecord(schema)) return null;
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  const { $defs } = root;
  const found =
    isRecord($defs) && $ref.startsWith(POINTER_START) ? $defs[$ref.slice(POINTER_START.length)] : null;
  return isRecord(found) ? found : null;
}

function readPool(path: NamedPool["path"], value: unknown): NamedPool {
  const { dataPoolId } = isRecord(value) ? value : {};
  if (typeof dataPoolId === "string" && isUuid(dataPoolId)) return { path, dataPoolId };
  const place = `/${path.join("/")}`;
  const message = `${place} must be a data pool, {"dataPoolId": "..."} with a UUID.`;
  throw new Problem("INVALID_INPUT", message, { errors: [{ path: place, message }] });
}
