/** Part of `npm run format`: brings the prose of all pages to lines of 100 columns. */
import { writeFileSync } from "node:fs";
import { listFiles, readPages } from "./docs/pages.ts";
import { wrapPage } from "./docs/wrap.ts";

for (const { path, text } of readPages(listFiles())) {
  const wrapped = wrapPage(text);
  if (wrapped !== text) writeFileSync(path, wrapped);
}
