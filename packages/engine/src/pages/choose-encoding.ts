import type { Encoding, PageFile } from "./read-build.ts";

/** In the order in which they are chosen among equals: the smallest first. */
const PREFERRED = ["br", "gzip", "identity"] as const satisfies readonly Encoding[];
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/iu;
/** Below any weight that can be written: what is not named is acceptable, and everything named is preferred (RFC 9110, 12.5.3). */
const UNNAMED = 0.000_1;

/** The encoding in which the file is sent: the one that the header prefers, and as it is where the header excludes all. */
export function chooseEncoding(header: string | undefined, { bodies }: Pick<PageFile, "bodies">): Encoding {
  const weights = readWeights(header ?? "");
  const other = weights.get("*");
  const weigh = (encoding: Encoding) =>
    weights.get(encoding) ?? other ?? (encoding === "identity" ? UNNAMED : 0);
  // A copy, as `filter` makes it; Node.js 18 has no `toSorted`.
  const [best = "identity"] = PREFERRED.filter((encoding) => bodies.has(encoding)).sort(
    (one, another) => weigh(another) - weigh(one),
  );
  return weigh(best) > 0 ? best : "identity";
}

/** Whether Accept names HTML, as that of a browser does that opens a page. What accepts anything may be a program or a script. */
export function isPageWanted(header: string | undefined): boolean {
  return (readWeights(header ?? "").get("text/html") ?? 0) > 0;
}

/** The items of a header and their weights; one with a weight that is none has 0. */
function readWeights(header: string): ReadonlyMap<string, number> {
  return new Map(
    header.split(",").map((item) => {
      const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
      const weight = parameters.find((parameter) => /^q=/iu.test(parameter));
      return [name.toLowerCase(), weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? "0")];
    }),
  );
}
