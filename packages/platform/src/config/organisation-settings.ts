import { GIGABYTE } from "@platform/engine/base/bytes";
import { DEFAULT_BUILD_QUOTA } from "../store/builds/build-quota.ts";
import { number } from "./settings.ts";
import type { Setting } from "./settings.ts";

/** Settings of what one organisation may have, by the name of their flags. */
export const ORGANISATION_SETTINGS = {
  "organization-builds": number(
    "PLATFORM_ORGANIZATION_BUILDS",
    "Builds of one organisation that may wait or run",
    { min: 1, max: 100_000, isWhole: true },
    DEFAULT_BUILD_QUOTA.builds,
  ),
  "organization-storage": number(
    "PLATFORM_ORGANIZATION_STORAGE",
    "GB that archives and unpacked projects of one organisation's live versions may take",
    { min: 0.001, max: 1_000_000, isWhole: false },
    DEFAULT_BUILD_QUOTA.storedBytes / GIGABYTE,
  ),
  "organization-environments": number(
    "PLATFORM_ORGANIZATION_ENVIRONMENTS",
    "GB that the installed requirements of one organisation may take on each host",
    { min: 0.001, max: 1_000_000, isWhole: false },
    50,
  ),
  "organization-data": number(
    "PLATFORM_ORGANIZATION_DATA",
    "GB that the files of one organisation's data pools may take",
    { min: 0.001, max: 1_000_000, isWhole: false },
    100,
  ),
  "organization-results": number(
    "PLATFORM_ORGANIZATION_RESULTS",
    "GB that results above 1 MB and the files of results may take that one organisation's executions have returned; beyond it starts are refused with 429",
    { min: 0.001, max: 1_000_000, isWhole: false },
    500,
  ),
  "max-reference": number(
    "PLATFORM_MAX_REFERENCE",
    "GB that a file may have which an execution reads by reference",
    { min: 0.001, max: 1_000, isWhole: false },
    1,
  ),
  "max-result": number(
    "PLATFORM_MAX_RESULT",
    "GB that the result of one execution may have, and its files together; results above 1 MB are kept as objects",
    { min: 0.001, max: 3.9, isWhole: false },
    1,
  ),
  "max-pool-files": number(
    "PLATFORM_MAX_POOL_FILES",
    "Files that the data pools may have together which an execution reads as folders; a pool counts each time that a start names it",
    { min: 1, max: 100_000, isWhole: true },
    1_000,
  ),
  "max-pool": number(
    "PLATFORM_MAX_POOL",
    "GB that the data pools may have together which an execution reads as folders; a pool counts each time that a start names it",
    { min: 0.001, max: 100_000, isWhole: false },
    10,
  ),
  "max-file": number(
    "PLATFORM_MAX_FILE",
    "GB that one file of a data pool may have",
    { min: 0.001, max: 1_000, isWhole: false },
    5,
  ),
} as const satisfies Record<string, Setting<unknown>>;
