/** How a client and its parts are called. */
export interface ClientNames {
  /** Of the package, for pip, npm and Maven: `travelling-salesman-client`. */
  readonly distribution: string;
  /** Of the Python module: `travelling_salesman_client`. */
  readonly module: string;
  /** Of the Java package: `io.platform.travelling_salesman`. */
  readonly javaPackage: string;
  /** Of the Java class: `TravellingSalesmanClient`. */
  readonly javaClass: string;
}

const JAVA_WORDS = new Set(
  "abstract assert boolean break byte case catch char class const continue default do double else enum extends false final finally float for goto if implements import instanceof int interface long native new null package private protected public return short static strictfp super switch synchronized this throw throws transient true try void volatile while".split(
    " ",
  ),
);

/** The bare cores are `platform-client`: a client of this name would take the place of an installed one, or be replaced by it. */
const OF_CORES = "platform";

/** Names that are valid in every language, for a name of a service: lower-case letters, digits and hyphens. */
export function nameClient(service: string): ClientNames {
  const words = service
    .toLowerCase()
    .split(/[^a-z0-9]+/u)
    .filter((word) => word !== "");
  const snake = words.join("_");
  const isTaken = snake === "" || snake === OF_CORES || /^\d/u.test(snake) || JAVA_WORDS.has(snake);
  const name = isTaken ? `service_${snake}` : snake;
  const pascal = name.split("_").map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return {
    distribution: `${name.replaceAll("_", "-")}-client`,
    module: `${name}_client`,
    javaPackage: `io.platform.${name}`,
    javaClass: `${pascal.join("")}Client`,
  };
}
