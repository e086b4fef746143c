import { expect, test } from "vitest";
import { cleanLine, createOutput } from "./output.ts";

function record(isTerminal: boolean) {
  const texts = { out: "", err: "" };
  const output = createOutput({
    out: { write: (text) => (texts.out += text), isTerminal },
    err: { write: (text) => (texts.err += text), isTerminal },
    isJson: false,
    noColor: false,
  });
  return { texts, output };
}

const HOSTILE = "a\u009b2Jb\u001b[2Jc\rd\u0007e";
const CLEAN = "a2Jb[2Jcde";

test.each([
  [true, 7],
  [false, 6],
])("no line controls the terminal, whatever its source (terminal: %s)", (isTerminal, lines) => {
  const { texts, output } = record(isTerminal);
  output.print(HOSTILE);
  output.printTable([HOSTILE], []);
  output.note(HOSTILE);
  output.warn(HOSTILE);
  const progress = output.startProgress(HOSTILE);
  progress.print(HOSTILE);
  progress.stop();
  const all = `${texts.out}${texts.err}`;
  expect(all.split(CLEAN).length - 1).toBe(lines);
  for (const part of ["\u009b", "b\u001b", "c\r", "\u0007"]) expect(all).not.toContain(part);
});

test("our own colours stay, also around such text", () => {
  const { texts, output } = record(true);
  output.print(output.paint("red", `x\u001b[5my`));
  expect(texts.out).toBe("\u001b[31mx[5my\u001b[0m\n");
});

test("raw text has its C1 characters escaped, as JSON may", () => {
  const { texts, output } = record(true);
  output.write(JSON.stringify({ a: "\u009b" }));
  expect(texts.out).toBe('{"a":"\\u009b"}');
});

test("a text of others is one cell of one row, and leaves the direction of the others", () => {
  const { texts, output } = record(true);
  output.printTable(["NAME", "STATE"], [["a\r\n1  sim.fake  COMPLETED\t\u202egpj\u2028b", "FAILED"]]);
  expect(texts.out.split("\n").slice(1)).toEqual(["a 1  sim.fake  COMPLETED gpj b  FAILED", ""]);
  expect(cleanLine("a\nState  COMPLETED\u001b[2J")).toBe("a State  COMPLETED[2J");
});
