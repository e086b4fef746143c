/** Part of `npm run check`: what the documentation names exists, and its prose stands in lines of 100 columns. */
import { exit, stderr } from "node:process";
import { GUARANTEES, findGuaranteeFaults } from "./docs/guarantees.ts";
import { isWrapped, listFiles, readPages } from "./docs/pages.ts";
import { findPathFaults } from "./docs/paths.ts";
import { WIDTH, wrapPage } from "./docs/wrap.ts";

const files = listFiles();
const faults = readPages(files).flatMap((page) =>
  [
    ...(page.path === GUARANTEES ? findGuaranteeFaults(page, files) : []),
    ...findPathFaults(page, files),
    ...(!isWrapped(page) || wrapPage(page.text) === page.text
      ? []
      : [`prose is wider than ${WIDTH} columns: run npm run format`]),
  ].map((fault) => `${page.path}: ${fault}`),
);
for (const fault of faults) stderr.write(`${fault}\n`);
exit(faults.length === 0 ? 0 : 1);
