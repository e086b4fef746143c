import { SettingError, number, optionalOrigin, optionalText, secretText, text } from "./settings.ts";
import type { Setting } from "./settings.ts";

/** Where a bucket is, and who may use it. */
export interface S3Settings {
  readonly bucket: string;
  /** Precedes the names of all objects, without a slash at its end; empty: nothing does. */
  readonly prefix: string;
  /** URL of the service; null: that of Amazon in the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** null: those that the environment, a profile or the role of the machine gives. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

/** Settings of where objects are stored, by the name of their flags. */
export const OBJECT_SETTINGS = {
  "s3-bucket": optionalText(
    "PLATFORM_S3_BUCKET",
    "NAME",
    "Bucket of an S3 service in which objects (archives of projects) are stored; default: the data directory",
  ),
  "s3-prefix": optionalText("PLATFORM_S3_PREFIX", "TEXT", "What precedes the names of objects in the bucket"),
  "s3-endpoint": optionalOrigin(
    "PLATFORM_S3_ENDPOINT",
    "URL of the S3 service, which finds buckets by path; default: Amazon's of the region",
  ),
  "s3-region": text("PLATFORM_S3_REGION", "NAME", "Region of the bucket", "us-east-1"),
  "s3-access-key-id": secretText(
    "PLATFORM_S3_ACCESS_KEY_ID",
    "TEXT",
    "Key for the bucket, with --s3-secret-access-key; default: what AWS_... variables, a profile or the role of the machine give",
  ),
  "s3-secret-access-key": secretText(
    "PLATFORM_S3_SECRET_ACCESS_KEY",
    "TEXT",
    "Its secret; better as a variable",
  ),
  "object-cache": number(
    "PLATFORM_OBJECT_CACHE",
    "GB of the data directory's disk for the objects of the bucket that this host used last; 0: they are fetched each time",
    { min: 0, max: 1_000_000, isWhole: false },
    10,
  ),
} as const satisfies Record<string, Setting<unknown>>;

type Given = {
  readonly [K in keyof typeof OBJECT_SETTINGS]: (typeof OBJECT_SETTINGS)[K] extends Setting<infer T>
    ? T
    : never;
};

/** Null without a bucket. @throws SettingError when only a part is set, or a name cannot be one */
export function readS3(given: Given): S3Settings | null {
  const { "s3-bucket": bucket, "s3-endpoint": endpoint, "s3-region": region } = given;
  const { "s3-access-key-id": accessKeyId, "s3-secret-access-key": secretAccessKey } = given;
  const prefix = given["s3-prefix"]?.replace(/^\/|\/$/gu, "") ?? "";
  if ((accessKeyId === null) !== (secretAccessKey === null))
    throw new SettingError(
      "--s3-access-key-id and --s3-secret-access-key (PLATFORM_S3_...) must be set together.",
    );
  if (bucket === null) {
    const hasMore = prefix !== "" || endpoint !== null || accessKeyId !== null;
    if (hasMore)
      throw new SettingError("--s3-bucket (PLATFORM_S3_BUCKET) is missing beside the other --s3-....");
    return null;
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/u.test(bucket))
    throw new SettingError(
      `--s3-bucket (PLATFORM_S3_BUCKET) is "${bucket}"; it must be a name of 3 to 63 lower-case letters, digits, dots and hyphens.`,
    );
  if (!/^[\w./-]{0,200}$/u.test(prefix))
    throw new SettingError(
      `--s3-prefix (PLATFORM_S3_PREFIX) is "${prefix}"; it must be at most 200 of A-Z a-z 0-9 . _ / -.`,
    );
  const credentials =
    accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey };
  return { bucket, prefix, endpoint, region, credentials };
}
