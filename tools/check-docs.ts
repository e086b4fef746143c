/** Part of `npm run check`: what the documentation names exists, entries stand once, and prose in lines of 100 columns. */
import { exit, stderr } from "node:process";
import { findEntryFaults } from "./docs/entries.ts";
import { GUARANTEES, findGuaranteeFaults } from "./docs/guarantees.ts";
import { listFiles, readPages } from "./docs/pages.ts";
import { findPathFaults } from "./docs/paths.ts";
import { findTableFaults } from "./docs/test-tables.ts";
import { WIDTH, wrapPage } from "./docs/wrap.ts";

const files = listFiles();
const faults = readPages(files).flatMap((page) =>
  [
    ...(page.path === GUARANTEES ? findGuaranteeFaults(page, files) : []),
    ...findTableFaults(page, files),
    ...findPathFaults(page, files),
    ...findEntryFaults(page),
    ...(wrapPage(page.text) === page.text
      ? []
      : [`prose is wider than ${WIDTH} columns: run npm run format`]),
  ].map((fault) => `${page.path}: ${fault}`),
);
for (const fault of faults) stderr.write(`${fault}\n`);
exit(faults.length === 0 ? 0 : 1);
