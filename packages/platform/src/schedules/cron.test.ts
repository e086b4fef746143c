import { expect, test } from "vitest";
import { TimesError, readTimes, requireTimes } from "./cron.ts";

const NOW = Date.parse("2026-11-24T12:00:30Z");

function listTimes(cron: string, timeZone: string, from: string, count: number): string[] {
  const { after } = readTimes(cron, timeZone);
  const times: string[] = [];
  let time: number | null = Date.parse(from);
  while (times.length < count) {
    time = after(time);
    if (time === null) break;
    times.push(new Date(time).toISOString().slice(0, 16));
  }
  return times;
}

test.each([
  ["30 2 * * *", "UTC", ["2026-11-25T02:30", "2026-11-26T02:30"]],
  ["30 2 * * *", "Europe/Berlin", ["2026-11-25T01:30", "2026-11-26T01:30"]],
  ["*/20 * * * *", "UTC", ["2026-11-24T12:20", "2026-11-24T12:40"]],
  ["* * * * *", "UTC", ["2026-11-24T12:01", "2026-11-24T12:02"]],
  ["0 9-10 * * MON-fri", "UTC", ["2026-11-25T09:00", "2026-11-25T10:00"]],
  ["0 0 1,15 JAN *", "UTC", ["2027-01-01T00:00", "2027-01-15T00:00"]],
  ["0 0 * * 7", "UTC", ["2026-11-29T00:00", "2026-12-06T00:00"]],
  ["0 0 * * 0", "UTC", ["2026-11-29T00:00", "2026-12-06T00:00"]],
  // Where both days are given, either will do, as in any cron.
  ["0 0 1 * MON", "UTC", ["2026-11-30T00:00", "2026-12-01T00:00"]],
  ["0 0 29 2 *", "UTC", ["2028-02-29T00:00", "2032-02-29T00:00"]],
  ["0 0 31 * *", "UTC", ["2026-12-31T00:00", "2027-01-31T00:00"]],
  ["@hourly", "UTC", ["2026-11-24T13:00", "2026-11-24T14:00"]],
  ["@Daily", "Asia/Tokyo", ["2026-11-24T15:00", "2026-11-25T15:00"]],
  ["@weekly", "UTC", ["2026-11-29T00:00", "2026-12-06T00:00"]],
  ["@monthly", "UTC", ["2026-12-01T00:00", "2027-01-01T00:00"]],
  ["@yearly", "UTC", ["2027-01-01T00:00", "2028-01-01T00:00"]],
  ["  5   4  *  * * ", "UTC", ["2026-11-25T04:05", "2026-11-26T04:05"]],
])("%s in %s is due as its fields say", (cron, timeZone, expected) => {
  expect(listTimes(cron, timeZone, new Date(NOW).toISOString(), 2)).toEqual(expected);
});

test.each([
  // 02:00 to 03:00 is skipped on 2026-03-29.
  ["30 2 * * *", "2026-03-28T12:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]],
  ["0,30 2 * * *", "2026-03-28T12:00Z", ["2026-03-29T01:00", "2026-03-30T00:00"]],
  ["*/30 * * * *", "2026-03-29T00:20Z", ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"]],
  // 02:00 to 03:00 occurs twice on 2026-10-25, first until 01:00 UTC.
  ["30 2 * * *", "2026-10-24T12:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]],
  ["0,30 2 * * *", "2026-10-24T12:00Z", ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-26T01:00"]],
  ["*/30 * * * *", "2026-10-25T00:20Z", ["2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"]],
])(
  "%s in Berlin after %s: a time that is skipped is due after the gap, one that occurs twice is due once",
  (cron, from, expected) => {
    expect(listTimes(cron, "Europe/Berlin", from, expected.length)).toEqual(expected);
  },
);

test.each([
  ["", "0 fields"],
  ["* * * *", "4 fields"],
  ["* * * * * *", "6 fields"],
  ["0 0 1 1 * 2027 *", "7 fields"],
  ["60 * * * *", 'minute "60"'],
  ["-1 * * * *", 'minute "-1"'],
  ["1.5 * * * *", 'minute "1.5"'],
  ["* 24 * * *", 'hour "24"'],
  ["0 0 0 * *", 'day of the month "0"'],
  ["0 0 32 * *", 'day of the month "32"'],
  ["0 0 * 0 *", 'month "0"'],
  ["0 0 * 13 *", 'month "13"'],
  ["0 0 * * 8", 'day of the week "8"'],
  ["*/0 * * * *", 'minute "*/0"'],
  ["*/99 * * * *", 'minute "*/99"'],
  ["*/ * * * *", 'minute "*/"'],
  ["5/15 * * * *", 'minute "5/15"'],
  ["5-1 * * * *", 'minute "5-1"'],
  ["1-2-3 * * * *", 'minute "1-2-3"'],
  ["1/2/3 * * * *", 'minute "1/2/3"'],
  [",1 * * * *", 'minute ",1"'],
  ["1, * * * *", 'minute "1,"'],
  ["1,,2 * * * *", 'minute "1,,2"'],
  ["JAN * * * *", 'minute "JAN"'],
  ["0 0 * FOO *", 'month "FOO"'],
  ["0 0 * MON *", 'month "MON"'],
  ["0 0 * * FRI-MON", 'day of the week "FRI-MON"'],
  // Extensions of the library.
  ["? * * * *", 'minute "?"'],
  ["0 0 L * *", 'day of the month "L"'],
  ["0 0 15W * *", 'day of the month "15W"'],
  ["0 0 * * 5#2", 'day of the week "5#2"'],
  ["0 0 * * +MON", 'day of the week "+MON"'],
  ["2027-01-01T00:00:00", "1 fields"],
  ["@reboot", "@daily"],
  ["@every 5m", "@daily"],
  ["@__proto__", "@daily"],
  ["٣ * * * *", 'minute "٣"'],
  ["*\u00a0* * * *", "4 fields"],
  ["* * * *\n*", "4 fields"],
  ["0 0 30 2 *", "never occurs"],
  ["0 0 31 4,6,9,11 *", "never occurs"],
])("%j is refused, and says why", (cron, reason) => {
  const attempt = () => requireTimes(cron, "UTC", NOW);
  expect(attempt).toThrow(TimesError);
  expect(attempt).toThrow(reason);
  expect(attempt).toThrow(expect.objectContaining({ field: "cron" }));
});

test.each([
  "",
  "Mars/Olympus",
  "+02:00",
  "UTC+1",
  "Europe/Berlin\0",
  "../../etc/passwd",
  "Europe/",
  "CEST",
  "x".repeat(64),
])("%j is no time zone", (timeZone) => {
  expect(() => requireTimes("* * * * *", timeZone, NOW)).toThrow(
    expect.objectContaining({ name: "TimesError", field: "timeZone" }),
  );
});

/** Whether it is one that occurs. */
function isAccepted(cron: string): boolean {
  try {
    requireTimes(cron, "America/Sao_Paulo", NOW);
    return true;
  } catch (error) {
    if (error instanceof TimesError) return false;
    throw error;
  }
}

test.each([
  ["*".repeat(256), false],
  [`${"1,".repeat(120)}1 * * * *`, true],
  [`${"*/".repeat(120)} * * * *`, false],
  [`${"*/1,".repeat(60)}* * * * *`, true],
  ["0 0 31 4,6,9,11 *", false],
])("the longest and the rarest are read in little time: %s", (cron, expected) => {
  const started = process.threadCpuUsage();
  expect(isAccepted(cron)).toBe(expected);
  const { user, system } = process.threadCpuUsage(started);
  expect((user + system) / 1_000).toBeLessThan(500);
});

test.each(["Europe/Berlin", "Australia/Lord_Howe", "UTC"])(
  "looking back in %s finds what looking ahead has found, around the changes of the clocks",
  (timeZone) => {
    for (const [from, to] of [
      ["2026-03-27", "2026-04-06"],
      ["2026-10-02", "2026-10-06"],
      ["2026-10-23", "2026-10-27"],
    ] as const)
      for (const cron of ["*/30 * * * *", "30 2 * * *", "0,15,45 0-3 * * *"]) {
        const { after, upTo } = readTimes(cron, timeZone);
        let last = after(Date.parse(from)) ?? 0;
        for (let next = after(last) ?? Infinity; next < Date.parse(to); next = after(next) ?? Infinity) {
          expect([cron, upTo(next - 1), upTo(next)]).toEqual([cron, last, next]);
          last = next;
        }
      }
  },
);
