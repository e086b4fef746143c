/** The variables of the host that a build sees: how to reach the package index, and nothing else (PIP_TARGET and the like would misplace it). */
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

/** The complete environment of a build's programs. `work` is the build's own folder. */
export function createBuildVariables(
  host: Readonly<Record<string, string | undefined>>,
  work: { readonly home: string; readonly temporary: string },
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (PASSED.has(name) || PASSED_PATTERN.test(name))) variables[name] = value;
  }
  for (const [from, to, instead] of UV_FROM_PIP) {
    const value = variables[from];
    if (value !== undefined && variables[to] === undefined && variables[instead] === undefined)
      variables[to] = value;
  }
  return {
    ...variables,
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    HOME: work.home,
    TMPDIR: work.temporary,
    PIP_ROOT_USER_ACTION: "ignore",
    PYTHONUNBUFFERED: "1",
  };
}

/** The absolute paths that these variables name: certificates, local indexes, configuration files. */
export function listNamedPaths(variables: Readonly<Record<string, string>>): readonly string[] {
  const named = Object.entries(variables).filter(([name]) => PASSED.has(name));
  return named.flatMap(([, value]) => value.split(/[\s,]+/)).filter((value) => value.startsWith("/"));
}
