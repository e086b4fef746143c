import { readFile } from "node:fs/promises";

/*
 * How packages are downloaded: the variables of the host that configure the access to package indexes, the files that they name, and the
 * credentials in both. Only steps that run no code of a package get them.
 */

/** What the steps with a network get. */
export interface IndexAccess {
  readonly variables: Readonly<Record<string, string>>;
  /** Absolute paths: certificates, local indexes, configuration files. */
  readonly readablePaths: readonly string[];
  /** The line without the credentials of an index. */
  readonly redact: (line: string) => string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Nothing else is passed on (PIP_TARGET and the like would misplace packages). */
const PASSED = new Set([
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "PIP_NO_INDEX",
  "PIP_FIND_LINKS",
  "PIP_TRUSTED_HOST",
  "PIP_CONFIG_FILE",
  "PIP_CERT",
  "PIP_CLIENT_CERT",
  "PIP_PROXY",
  "PIP_DEFAULT_TIMEOUT",
  "PIP_TIMEOUT",
  "PIP_RETRIES",
  "PIP_CONSTRAINT",
  "PIP_ONLY_BINARY",
  "PIP_NO_BINARY",
  "PIP_PREFER_BINARY",
  "UV_DEFAULT_INDEX",
  "UV_INDEX",
  "UV_INDEX_URL",
  "UV_EXTRA_INDEX_URL",
  "UV_FIND_LINKS",
  "UV_INDEX_STRATEGY",
  "UV_CONFIG_FILE",
  "UV_INSECURE_HOST",
  "UV_HTTP_TIMEOUT",
  "UV_HTTP_RETRIES",
  "UV_NATIVE_TLS",
  "UV_SYSTEM_CERTS",
  "UV_OFFLINE",
  "UV_CONSTRAINT",
  "UV_NO_BUILD",
  "UV_NO_BINARY",
  "UV_KEYRING_PROVIDER",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
]);

/** Credentials of the indexes that UV_INDEX names: UV_INDEX_<NAME>_USERNAME. */
const PASSED_PATTERN = /^UV_INDEX_[A-Z0-9_]+_(USERNAME|PASSWORD)$/;

/** uv does not read pip's variables, so they are translated: an operator who configured pip has configured both. */
const UV_FROM_PIP = [
  ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"],
  ["PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL"],
  ["PIP_FIND_LINKS", "UV_FIND_LINKS", "UV_FIND_LINKS"],
  ["PIP_CERT", "SSL_CERT_FILE", "UV_SYSTEM_CERTS"],
] as const;

/** What pip reads for all users unless PIP_CONFIG_FILE names another file; uv is told to read none. */
const PIP_CONFIGURATIONS = ["/etc/pip.conf", "/etc/xdg/pip/pip.conf"];

/** Reads the variables of the host, and the configuration files that they name. */
export async function readIndexAccess(host: Variables): Promise<IndexAccess> {
  const variables = selectVariables(host);
  const named = [variables["PIP_CONFIG_FILE"], variables["UV_CONFIG_FILE"]];
  const files = [...PIP_CONFIGURATIONS, ...named].filter((path) => path?.startsWith("/") === true);
  const texts = await Promise.all(files.map((path) => readFile(path ?? "", "utf8").catch(() => "")));
  const values = Object.entries(variables).filter(([name]) => PASSED.has(name));
  const everything = [...values.map(([, value]) => value), ...texts];
  const secrets = [...everything.flatMap(findSecrets), ...listPasswords(variables)];
  return {
    variables,
    readablePaths: [...new Set([...PIP_CONFIGURATIONS, ...everything.flatMap(findPaths)])],
    redact: createRedaction(secrets),
  };
}

function selectVariables(host: Variables): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (PASSED.has(name) || PASSED_PATTERN.test(name))) variables[name] = value;
  }
  for (const [from, to, instead] of UV_FROM_PIP) {
    const value = variables[from];
    if (value !== undefined && variables[to] === undefined && variables[instead] === undefined)
      variables[to] = value;
  }
  return variables;
}

/** Words that are absolute paths, or `file:` addresses of some. */
function findPaths(text: string): readonly string[] {
  const words = text.split(/[\s,="'[\]]+/).map((word) => word.replace(/^file:\/\//, ""));
  return words.filter((word) => /^\/[^/]/.test(word));
}

/** The password of each address with one, else its user name, which is then a token; as written, and decoded. */
function findSecrets(text: string): readonly string[] {
  const found = [...text.matchAll(/:\/\/([^\s/@:]*)(?::([^\s/@]*))?@/g)].map(([, user, password]) =>
    password === undefined || password === "" ? user : password,
  );
  return found.flatMap((secret) => (secret === undefined ? [] : [secret, decode(secret)]));
}

function listPasswords(variables: Readonly<Record<string, string>>): readonly string[] {
  const passwords = Object.entries(variables).filter(([name]) => name.endsWith("_PASSWORD"));
  return passwords.flatMap(([, value]) => [value, encodeURIComponent(value)]);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The longest first: one may contain another. */
function createRedaction(secrets: readonly string[]): (line: string) => string {
  const known = [...new Set(secrets)].filter((secret) => secret !== "").sort((a, b) => b.length - a.length);
  return (line) => known.reduce((text, secret) => text.replaceAll(secret, "****"), line);
}
