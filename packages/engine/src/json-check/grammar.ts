/*
 * RFC 8259 as one table: the state that follows a state and a byte. What needs more than the state (what encloses a value, where a
 * string belongs) is a step instead, which the scanner does.
 */

/** Where in the text the next byte is. */
export const STATE = {
  start: 0,
  end: 1,
  value: 2,
  firstItem: 3,
  firstName: 4,
  name: 5,
  colon: 6,
  after: 7,
  string: 8,
  escape: 9,
  hex1: 10,
  hex2: 11,
  hex3: 12,
  hex4: 13,
  minus: 14,
  zero: 15,
  integer: 16,
  dot: 17,
  fraction: 18,
  exponent: 19,
  exponentSign: 20,
  exponentDigits: 21,
  t: 22,
  tr: 23,
  tru: 24,
  f: 25,
  fa: 26,
  fal: 27,
  fals: 28,
  n: 29,
  nu: 30,
  nul: 31,
} as const;

/** What stands in the table in the place of a state, from `FIRST_STEP` on. */
export const STEP = {
  refuse: 32,
  openObject: 33,
  openArray: 34,
  close: 35,
  comma: 36,
  openName: 37,
  openString: 38,
  closeString: 39,
} as const;

/** The least of the steps, and how many states there are. */
export const FIRST_STEP: number = STEP.refuse;

/** What a text must go on with, for people; the states of one string, number or word are the last entry of theirs. */
const EXPECTED: readonly (readonly [state: number, what: string])[] = [
  [STATE.start, 'a "{"'],
  [STATE.end, "the end of the text"],
  [STATE.value, "a value"],
  [STATE.firstItem, 'a value or "]"'],
  [STATE.firstName, 'a name in double quotes or "}"'],
  [STATE.name, "a name in double quotes"],
  [STATE.colon, 'a ":"'],
  [STATE.after, "a comma or the end of what encloses the value"],
  [STATE.string, "the end of a string, where a control character must be escaped"],
  [STATE.escape, "one of the escapes of JSON"],
  [STATE.hex1, "four hexadecimal digits"],
  [STATE.minus, "a digit"],
  [STATE.zero, "the end of a number that begins with 0"],
  [STATE.integer, "the rest of a number, or its end"],
  [STATE.dot, "a digit"],
  [STATE.fraction, "the rest of a number, or its end"],
  [STATE.exponent, "an exponent"],
  [STATE.exponentDigits, "the rest of a number, or its end"],
  [STATE.t, "true"],
  [STATE.f, "false"],
  [STATE.n, "null"],
];

/** What the text must go on with in a state. */
export function describeExpected(state: number): string {
  return EXPECTED.findLast(([first]) => first <= state)?.[1] ?? "";
}

const SPACE = " \t\n\r";
const NON_ZERO = "123456789";
const DIGITS = `0${NON_ZERO}`;
const HEX_DIGITS = `${DIGITS}abcdefABCDEF`;
const WORDS: readonly (readonly [states: readonly number[], letters: string])[] = [
  [[STATE.value, STATE.t, STATE.tr, STATE.tru], "true"],
  [[STATE.value, STATE.f, STATE.fa, STATE.fal, STATE.fals], "false"],
  [[STATE.value, STATE.n, STATE.nu, STATE.nul], "null"],
];

/** The state or step after `state << 8 | byte`. */
export const TABLE: Uint8Array = buildTable();

function buildTable(): Uint8Array {
  const table = new Uint8Array(FIRST_STEP << 8).fill(STEP.refuse);
  const follow = (state: number, characters: string, next: number): void => {
    for (const character of characters) table[(state << 8) | character.charCodeAt(0)] = next;
  };
  for (const state of [
    STATE.start,
    STATE.end,
    STATE.value,
    STATE.firstItem,
    STATE.firstName,
    STATE.name,
    STATE.colon,
    STATE.after,
  ])
    follow(state, SPACE, state);
  follow(STATE.start, "{", STEP.openObject);
  follow(STATE.firstName, "}", STEP.close);
  for (const state of [STATE.firstName, STATE.name]) follow(state, '"', STEP.openName);
  follow(STATE.colon, ":", STATE.value);
  followNumbers(follow);
  for (const [states, letters] of WORDS)
    for (const [index, state] of states.entries())
      follow(state, letters.charAt(index), states[index + 1] ?? STATE.after);
  follow(STATE.value, "{", STEP.openObject);
  follow(STATE.value, "[", STEP.openArray);
  follow(STATE.value, '"', STEP.openString);
  table.copyWithin(STATE.firstItem << 8, STATE.value << 8, (STATE.value + 1) << 8);
  follow(STATE.firstItem, SPACE, STATE.firstItem);
  follow(STATE.firstItem, "]", STEP.close);
  followStrings(table, follow);
  for (const state of [STATE.after, STATE.zero, STATE.integer, STATE.fraction, STATE.exponentDigits]) {
    follow(state, SPACE, STATE.after);
    follow(state, ",", STEP.comma);
    follow(state, "]}", STEP.close);
  }
  return table;
}

function followNumbers(follow: (state: number, characters: string, next: number) => void): void {
  follow(STATE.value, "-", STATE.minus);
  for (const state of [STATE.value, STATE.minus]) {
    follow(state, "0", STATE.zero);
    follow(state, NON_ZERO, STATE.integer);
  }
  follow(STATE.integer, DIGITS, STATE.integer);
  for (const state of [STATE.zero, STATE.integer]) follow(state, ".", STATE.dot);
  for (const state of [STATE.dot, STATE.fraction]) follow(state, DIGITS, STATE.fraction);
  for (const state of [STATE.zero, STATE.integer, STATE.fraction]) follow(state, "eE", STATE.exponent);
  follow(STATE.exponent, "+-", STATE.exponentSign);
  for (const state of [STATE.exponent, STATE.exponentSign, STATE.exponentDigits])
    follow(state, DIGITS, STATE.exponentDigits);
}

function followStrings(
  table: Uint8Array,
  follow: (state: number, characters: string, next: number) => void,
): void {
  table.fill(STATE.string, (STATE.string << 8) | 0x20, (STATE.string + 1) << 8);
  follow(STATE.string, '"', STEP.closeString);
  follow(STATE.string, "\\", STATE.escape);
  follow(STATE.escape, '"\\/bfnrt', STATE.string);
  follow(STATE.escape, "u", STATE.hex1);
  for (const state of [STATE.hex1, STATE.hex2, STATE.hex3]) follow(state, HEX_DIGITS, state + 1);
  follow(STATE.hex4, HEX_DIGITS, STATE.string);
}
