#!/usr/bin/env node
// Runs the sources if this Node.js can strip types, else the bundle. Plain JavaScript, so that Node.js 18 can run it.
import { existsSync } from "node:fs";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const bundle = new URL("../dist/platform.js", import.meta.url);

if (major > 22 || (major === 22 && minor >= 18)) {
  await import("../src/main.ts");
} else if (existsSync(bundle)) {
  await import(bundle.href);
} else {
  process.stderr.write(
    `error: Node.js ${process.versions.node} cannot run the sources of 'platform' (this needs 22.18 or newer), and there is no bundle.\n` +
      "Run 'npx platform ...' inside the repository, which uses its own Node.js, or build the bundle with a newer Node.js: node packages/cli/build.ts\n",
  );
  process.exitCode = 1;
}
