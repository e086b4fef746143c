import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { parseVersion, selectRequester } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { SELECT_BUILDS_BEFORE } from "./builds-before.ts";
import { BUILD_COLUMNS, toBuildRecord } from "./builds.ts";
import type { BuildRecord, BuildRow } from "./builds.ts";

/** A build as its organisation sees it. */
export interface ListedBuild extends BuildRecord {
  /** Name of the user who deployed; null: there is no such user any more. */
  readonly createdBy: string | null;
}

/** Which build, whatever came after it; all parts of it are the caller's word. */
interface NamedBuild {
  readonly serviceKey: string;
  /** `MAJOR.MINOR.PATCH`. */
  readonly version: string;
  readonly id: string;
}

/** The builds of organisations, for reading; one of another organisation is treated as missing. */
export interface BuildHistory {
  /** Newest first; empty when the service is not the organisation's. */
  readonly list: (
    organisationId: string,
    serviceKey: string,
    page: PageRequest,
  ) => Promise<Page<ListedBuild>>;
  readonly find: (organisationId: string, build: NamedBuild) => Promise<ListedBuild | null>;
}

interface Row extends BuildRow {
  readonly createdBy: string | null;
  readonly position: string;
}

const COLUMNS = `${BUILD_COLUMNS}, b.position::text as position, ${selectRequester("b")} as "createdBy"`;

/** The history of builds in PostgreSQL. */
export function createBuildHistory(database: Database): BuildHistory {
  return {
    list: (organisationId, serviceKey, page) => listBuilds(database, organisationId, serviceKey, page),
    find: (organisationId, build) => findBuild(database, organisationId, build),
  };
}

const isPosition = (key: string) => /^\d{1,18}$/u.test(key);

async function listBuilds(
  database: Database,
  organisationId: string,
  serviceKey: string,
  page: PageRequest,
): Promise<Page<ListedBuild>> {
  const [before] = decodeCursor(page.cursor, [isPosition]) ?? [null];
  if (!isUuid(serviceKey)) return { items: [], nextCursor: null };
  const rows = await database.query<Row>({
    text: `select ${COLUMNS} from build b join service s on s.key = b.service_key
      where b.service_key = $1 and s.organisation_id = $2 and ($3::bigint is null or b.position < $3)
      order by b.position desc limit $4`,
    values: [serviceKey, organisationId, before, page.limit + 1],
    idempotent: true,
  });
  const { items, nextCursor } = cutPage(rows, page.limit, ({ position }) => [position]);
  return { items: items.map(toListedBuild), nextCursor };
}

async function findBuild(
  database: Database,
  organisationId: string,
  { serviceKey, version, id }: NamedBuild,
): Promise<ListedBuild | null> {
  const number = parseVersion(version);
  if (number === null || !isUuid(serviceKey) || !isUuid(id)) return null;
  const [row] = await database.query<Row>({
    text: `select ${COLUMNS}, ${SELECT_BUILDS_BEFORE} from build b join service s on s.key = b.service_key
      where b.id = $1 and b.service_key = $2 and s.organisation_id = $3 and b.major = $4 and b.minor = $5 and b.patch = $6`,
    values: [id, serviceKey, organisationId, number.major, number.minor, number.patch],
    idempotent: true,
  });
  return row === undefined ? null : toListedBuild(row);
}

function toListedBuild({ createdBy, position: _position, ...row }: Row): ListedBuild {
  return { ...toBuildRecord(row), createdBy };
}
