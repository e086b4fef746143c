import { RequirementError } from "./requirement-scanner.ts";
import type { Scanner } from "./requirement-scanner.ts";

/** Environment markers (PEP 508) without the deprecated names, `extra` and `===`. */
const VARIABLE =
  /(?:python_version|python_full_version|os_name|sys_platform|platform_release|platform_system|platform_version|platform_machine|platform_python_implementation|implementation_name|implementation_version)(?![\w.])/y;
const STRING = /"[A-Za-z0-9 ._+,*!:/-]*"|'[A-Za-z0-9 ._+,*!:/-]*'/y;
const OPERATOR = /<=|>=|==|!=|~=|<|>|(?:not +in|in)(?![\w.])/y;
const MAX_DEPTH = 10;

/**
 * Reads the marker that begins here and returns its canonical form: words separated by one space, double quotes.
 *
 * @throws RequirementError
 */
export function readMarker(scanner: Scanner, depth = 0): string {
  if (depth > MAX_DEPTH) throw new RequirementError("its marker is nested too deep");
  const parts = [readTerm(scanner, depth)];
  for (;;) {
    scanner.skipBlanks();
    const word = scanner.take(/(?:and|or)(?![\w.])/y);
    if (word === null) return parts.join(" ");
    parts.push(word, readTerm(scanner, depth));
  }
}

function readTerm(scanner: Scanner, depth: number): string {
  scanner.skipBlanks();
  if (scanner.take(/\(/y) === null) return readComparison(scanner);
  const inner = readMarker(scanner, depth + 1);
  scanner.skipBlanks();
  if (scanner.take(/\)/y) === null) throw new RequirementError("a parenthesis of its marker is not closed");
  return `(${inner})`;
}

function readComparison(scanner: Scanner): string {
  const left = readOperand(scanner);
  scanner.skipBlanks();
  const operator = scanner.take(OPERATOR)?.replace(/ +/, " ");
  const right = operator === undefined ? null : readOperand(scanner);
  if (operator === undefined || right === null || left.isVariable === right.isVariable)
    throw new RequirementError(
      'its marker is not understood; compare a variable with a text, as in python_version >= "3.12"',
    );
  return `${left.text} ${operator} ${right.text}`;
}

function readOperand(scanner: Scanner): { readonly text: string; readonly isVariable: boolean } {
  scanner.skipBlanks();
  const variable = scanner.take(VARIABLE);
  if (variable !== null) return { text: variable, isVariable: true };
  const quoted = scanner.take(STRING);
  // pip takes a word that begins with a dash for the first option of the line, even inside quotes.
  if (quoted === null || quoted.includes(" -"))
    throw new RequirementError("its marker is not understood; see docs/guide/writing-a-service.md");
  return { text: `"${quoted.slice(1, -1)}"`, isVariable: false };
}
