import type { Logger } from "../base/logger.ts";

const ignore = (): void => undefined;

/** For tests that look at nothing that is logged, or with what they look at in place of one of these. */
export const SILENT: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
