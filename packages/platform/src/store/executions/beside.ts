import type { NewExecution } from "@platform/engine/store/execution-store";
import { ANNOTATION, OUTPUT_POOL, PERSIST_TO, TRACE, WEBHOOK_URL } from "./create-statement.ts";

const FILE_PIN_BYTES = 256;

/** Whether there is more to write than a trace, a URL and an annotation, which any statement stores. */
export function namesObjects({
  trace: _trace,
  webhookUrl: _url,
  annotation: _note,
  ...execution
}: NewExecution): boolean {
  return describeBeside(execution) !== null;
}

/** What is stored beside the body; null: nothing. */
export function describeBeside({
  references,
  persistTo,
  outputPool,
  trace,
  webhookUrl,
  annotation,
}: NewExecution): object | null {
  const beside = {
    ...references,
    ...(persistTo === undefined ? {} : { [PERSIST_TO]: persistTo }),
    ...(outputPool === undefined ? {} : { [OUTPUT_POOL]: outputPool }),
    ...(trace === undefined ? {} : { [TRACE]: trace }),
    ...(webhookUrl === undefined ? {} : { [WEBHOOK_URL]: webhookUrl }),
    ...(annotation === undefined ? {} : { [ANNOTATION]: annotation }),
  };
  return Object.keys(beside).length > 0 ? beside : null;
}

/** About what the pins of files take. */
export function measurePools({ pools = [] }: NewExecution["references"]): number {
  return pools.reduce((sum, { files }) => sum + files.length * FILE_PIN_BYTES, 0);
}
