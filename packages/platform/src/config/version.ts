import manifest from "../../package.json" with { type: "json" };

/** The release that this program is of; `npm run gen` keeps it that of the repository. */
export const VERSION = manifest.version;
