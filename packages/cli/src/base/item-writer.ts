import type { Output } from "./output.ts";

/** Writes items as they come: a line each, or with `--json` one array. */
export interface ItemWriter<T> {
  readonly add: (items: readonly T[]) => void;
  /** Closes the array after an error, so that standard output is valid JSON. */
  readonly abort: () => void;
  readonly end: () => void;
}

/** Nothing is in memory but the items that are being written. */
export function createItemWriter<T>(output: Output, format: (item: T) => string): ItemWriter<T> {
  let written = 0;
  return {
    add: (items) => {
      for (const item of items) {
        if (output.isJson) output.write(`${written === 0 ? "[\n" : ",\n"}${JSON.stringify(item)}`);
        else output.print(format(item));
        written += 1;
      }
    },
    abort: () => {
      if (output.isJson && written > 0) output.write("\n]\n");
    },
    end: () => {
      if (output.isJson) output.write(written === 0 ? "[]\n" : "\n]\n");
    },
  };
}
