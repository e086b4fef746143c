import { expect, test } from "vitest";
import { choice, choices, number, optionalText, text } from "./settings.ts";

const cpu = number("CPU", "vCPUs", { min: 0.5, max: 8, isWhole: false }, 2);
const port = number("PORT", "Port", { min: 0, max: 65_535, isWhole: true }, 8080);
const level = choice("LEVEL", "Level", ["info", "warn"], "info");
const roles = choices("ROLES", "Roles", ["gateway", "worker"], ["gateway"]);

test.each([
  ["0.5", 0.5],
  ["8", 8],
  [" 2 ", 2],
  ["1e0", 1],
])("%j is a number within its range", (written, value) => {
  expect(cpu.parse(written)).toBe(value);
});

test.each(["", " ", "0.4", "8.1", "two", "NaN", "Infinity", "-1", "1,5", "0x"])(
  "%j is refused with what is expected",
  (written) => {
    expect(() => cpu.parse(written)).toThrow("a number from 0.5 to 8");
  },
);

test.each(["80.5", "65536", "-1"])("%j is no port", (written) => {
  expect(() => port.parse(written)).toThrow("a whole number from 0 to 65535");
});

test("a choice is one of its values as they are written, several are separated by commas", () => {
  expect(level.parse("warn")).toBe("warn");
  expect(() => level.parse("WARN")).toThrow("one of info, warn");
  expect(roles.parse("worker, gateway")).toEqual(["worker", "gateway"]);
  for (const wrong of ["", "worker,", "worker;gateway", "king"])
    expect(() => roles.parse(wrong)).toThrow("one of gateway, worker");
});

test("an empty optional text is none, another empty text is refused, any other text is taken as it is", () => {
  const secret = optionalText("SECRET", "TEXT", "A secret");
  expect([secret.parse(""), secret.parse(" x ")]).toEqual([null, " x "]);
  const host = text("HOST", "ADDRESS", "Address", "::1");
  expect(host.parse(" x ")).toBe(" x ");
  for (const empty of ["", " "]) expect(() => host.parse(empty)).toThrow("given, not empty");
});
