import {
  PYTHON_OPENER,
  SHELL_FUNCTIONS,
  WAIT,
  quotePython,
  quoteShell,
  sayFile,
  toCurlData,
  toPythonBytes,
} from "./texts.ts";

/** A start at a server without tokens, as `platform serve` is, with all that follows until the result. */
export interface LocalCall {
  /** Of the service, with its final slash. */
  readonly url: string;
  /** JSON text of a start. */
  readonly body: string;
}

/** The call as commands of a POSIX shell with curl 7.76 or newer. In parentheses, so that a refusal ends them and not the shell they are copied into. */
export function toLocalCurl({ url, body }: LocalCall): string {
  return [
    ...sayFile("#", body),
    `(`,
    `set -e`,
    ...SHELL_FUNCTIONS,
    `URL=${quoteShell(url)}`,
    `send -X POST "$URL" -H 'Content-Type: application/json' \\`,
    `  --data-binary ${toCurlData(body)}`,
    `ID=$(pick id)`,
    `STATUS=PENDING`,
    `while [ "$STATUS" = PENDING ] || [ "$STATUS" = RUNNING ]; do`,
    `  send "$URL$ID" -H 'Prefer: ${WAIT}'`,
    `  STATUS=$(pick status)`,
    `done`,
    `curl -sS --fail-with-body "$URL$ID/result"`,
    `)`,
  ].join("\n");
}

/** The call as a program of Python 3 with its standard library. */
export function toLocalPython({ url, body }: LocalCall): string {
  return [
    `import json, sys, urllib.error, urllib.request`,
    ``,
    ...PYTHON_OPENER,
    ``,
    `def send(url, headers={}, data=None):`,
    `    try:`,
    `        return opener.open(urllib.request.Request(url, data, headers))`,
    `    except urllib.error.HTTPError as refusal:`,
    `        sys.exit(f"{refusal.code} {refusal.read().decode()}")`,
    ``,
    `url = ${quotePython(url)}`,
    ...sayFile("#", body),
    `body = ${toPythonBytes(body)}`,
    `id = json.load(send(url, {"Content-Type": "application/json"}, body))["id"]`,
    `while json.load(send(url + id, {"Prefer": "${WAIT}"}))["status"] in ("PENDING", "RUNNING"):`,
    `    pass`,
    `sys.stdout.buffer.write(send(url + id + "/result").read() + b"\\n")`,
  ].join("\n");
}
