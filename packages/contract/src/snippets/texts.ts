/** A text as one word of a POSIX shell, and of zsh, which puts a program's path in the place of its name after `=`. */
export function quoteShell(text: string): string {
  return /^(?!=)[A-Za-z0-9_./:@%+=,-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Controls that JSON does not escape, and what is not seen, or turns the direction of what is. */
const UNSEEN = /[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * A JSON text in which all is seen, with the same value: a terminal that it is pasted into takes a control as a key, and a delete character
 * takes away the quotation mark before it.
 */
export function escapeUnseen(json: string): string {
  return json.replace(UNSEEN, escapeCodePoint);
}

/** A text as a literal of Python: JSON's escapes are Python's as well, but for characters beyond U+FFFF, which it writes in halves. */
export function quotePython(text: string): string {
  return JSON.stringify(text)
    .replace(/[\u007f-\uffff]/gu, escapeCodePoint)
    .replace(/[\u{10000}-\u{10ffff}]/gu, escapeCodePoint);
}

function escapeCodePoint(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xff_ff
    ? `\\U${point.toString(16).padStart(8, "0")}`
    : `\\u${point.toString(16).padStart(4, "0")}`;
}

/** A text as a literal of JavaScript: JSON is JavaScript as well. */
export const quoteJavaScript = (text: string): string => JSON.stringify(text);

/** A text as a literal of Java, in ASCII whatever the file is encoded in. */
export function quoteJava(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The file that a long body is read from. */
export const BODY_FILE = "body.json";

/** Bytes of a body that a program holds: a kernel takes 128 KiB as one argument, and Java 64 KiB as one literal, in an encoding of its own. */
const MOST_HELD_BYTES = 40_000;

/** Whether programs read the body from a file, since no language takes so long a text in one piece. */
export function isInFile(body: string): boolean {
  return new TextEncoder().encode(escapeUnseen(body)).length > MOST_HELD_BYTES;
}

/** The line that says so, as a comment. */
export const sayFile = (mark: "#" | "//", body: string): readonly string[] =>
  isInFile(body)
    ? [`${mark} Save the body as ${BODY_FILE} in this folder first: it is too long to be written here.`]
    : [];

/** The bytes of a body in Python. */
export const toPythonBytes = (body: string): string =>
  isInFile(body) ? `open("${BODY_FILE}", "rb").read()` : `${quotePython(body)}.encode()`;

/** The body, which is JSON, as the value of an option of curl. */
export const toCurlData = (body: string): string =>
  isInFile(body) ? `@${BODY_FILE}` : quoteShell(escapeUnseen(body));

/** The body, which is JSON, in JavaScript, where `readFile` is imported. */
export const toJavaScriptData = (body: string): string =>
  isInFile(body) ? `await readFile("${BODY_FILE}")` : quoteJavaScript(escapeUnseen(body));

/** How long a state is waited for: the value of `Prefer`. */
export const WAIT = "wait=30";

/** Functions of a POSIX shell with curl 7.76 or newer: `send` asks, and ends with what a refusal says; `pick` reads a text out of the answer, without a parser. */
export const SHELL_FUNCTIONS: readonly string[] = [
  `send() {`,
  `  ANSWER=$(curl -sS --fail-with-body "$@") || { printf '%s\\n' "$ANSWER" >&2; exit 1; }`,
  `}`,
  `pick() {`,
  `  printf '%s\\n' "$ANSWER" | grep -o "\\"$1\\" *: *\\"[^\\"]*\\"" | head -n 1 | cut -d '"' -f 4`,
  `}`,
];

/**
 * Lines of Python that make `opener`, where `urllib.request` is imported: unlike `urlopen`, which follows redirects to any host with all
 * headers, it takes them as refusals.
 */
export const PYTHON_OPENER: readonly string[] = [
  `class Refusing(urllib.request.HTTPRedirectHandler):`,
  `    def redirect_request(self, *_):  # What is sent is for this server alone.`,
  `        return None`,
  ``,
  `opener = urllib.request.build_opener(Refusing)`,
];
