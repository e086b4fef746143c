/* A process that fetches an object into a cache, DIRECTORY, and does not get to the end: its store writes a half and then says so. */
import { writeFile } from "node:fs/promises";
import { argv, stdout } from "node:process";
import { openObjectCache } from "../objects/object-cache.ts";

const [, , directory = "", hash = ""] = argv;
const cache = await openObjectCache({
  directory,
  maxBytes: 1_000_000,
  fetchTo: async (_hash, path) => {
    await writeFile(path, "half");
    stdout.write("half\n");
    await new Promise((resolve) => setTimeout(resolve, 2 ** 30));
  },
});
await cache.fetchTo(hash, `${directory}/fetched`);
