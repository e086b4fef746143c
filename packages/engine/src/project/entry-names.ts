/**
 * Names that the files of a project may have: they must refer to the same file on every system, and never to one outside the project.
 * Packing and unpacking use the same checks, so that nothing can be packed that is refused later.
 */

const MAX_COMPONENT_BYTES = 255;
const MAX_PATH_BYTES = 1024;
const MAX_DEPTH = 64;
/** A path has up to 64 folders, each of which takes an inode and a block: without this limit 10,000 files of 14 MB had 600,000 folders of 2.5 GB. */
const MAX_FOLDERS = 10_000;

/** Why this relative path (with `/`) is refused, as the end of a sentence; null when it is allowed. */
export function findNameFault(path: string): string | null {
  if (path === "") return "has no name";
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f\u007f]/.test(path)) return "has a control character in its name";
  if (path.includes("\\")) return "has a backslash in its name";
  if (path.includes("\uFFFD")) return "has a name that is not UTF-8";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "is an absolute path";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `has a path longer than ${MAX_PATH_BYTES} bytes`;
  return findComponentFault(path);
}

function findComponentFault(path: string): string | null {
  const components = path.split("/");
  if (components.includes("..")) return "leads out of the project";
  if (components.includes(".") || components.includes("")) return "has an empty part or a '.' in its path";
  if (components.length > MAX_DEPTH) return `lies deeper than ${MAX_DEPTH} folders`;
  if (components.some((part) => Buffer.byteLength(part) > MAX_COMPONENT_BYTES)) {
    return `has a name longer than ${MAX_COMPONENT_BYTES} bytes`;
  }
  return null;
}

/**
 * Finds the names of one project that cannot exist side by side on every file system. The returned function takes each path but the top
 * folder's, and returns null, or why it conflicts with the paths before it, as the end of a sentence.
 */
export function createNameRegister(): (path: string, kind: "file" | "directory") => string | null {
  /** Folders with their exact spelling; the parents of each are in the set as well. */
  const folders = new Set<string>();
  const known = new Map<string, { readonly path: string; readonly kind: "file" | "directory" }>();

  function addOne(path: string, kind: "file" | "directory", explicit: boolean): string | null {
    // Some file systems ignore case and Unicode forms: there the second file would overwrite the first.
    const folded = path.normalize("NFC").toLowerCase();
    const other = known.get(folded);
    if (other === undefined) {
      if (kind === "directory" && folders.add(path).size > MAX_FOLDERS)
        return `is one of more than ${MAX_FOLDERS} folders`;
      known.set(folded, { path, kind });
      return null;
    }
    if (other.path !== path) return `differs from '${other.path}' only in upper and lower case`;
    if (other.kind !== kind) return "is a file and a folder at once";
    return kind === "file" && explicit ? "is there twice" : null;
  }

  /** From the top down. */
  function listUnknownAbove(path: string): readonly string[] {
    const unknown: string[] = [];
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      unknown.unshift(folder);
    }
    return unknown;
  }

  return (path, kind) => {
    for (const folder of listUnknownAbove(path)) {
      const fault = addOne(folder, "directory", false);
      if (fault !== null) return fault;
    }
    return addOne(path, kind, true);
  };
}
