import { createServer } from "node:http";
import { expect, test } from "vitest";
import { createPlatformClient, readAllPages } from "./session.ts";

test("all pages of a list are read, in their order", async () => {
  const pages = [
    { items: [1, 2], nextCursor: "a" },
    { items: [], nextCursor: "b" },
    { items: [3], nextCursor: null },
  ];
  expect(await readAllPages(async () => pages.shift() ?? { items: [], nextCursor: null })).toEqual([1, 2, 3]);
});

test.each([
  ["the same page again and again", () => "a", 2],
  ["one more page without end", (page: number) => String(page), 10_000],
] as const)("a server that gives %s is not asked without end", async (_what, toCursor, most) => {
  let asked = 0;
  const endless = readAllPages(async () => {
    asked += 1;
    if (asked > 2 * most) throw new Error("It is asked without end.");
    return { items: [], nextCursor: toCursor(asked) };
  });
  await expect(endless).rejects.toMatchObject({ code: "INVALID_ANSWER" });
  expect(asked).toBe(most);
});

/** Nobody reads so much: who would has the test fail, not hang. */
const ENOUGH = 64 * 1024 * 1024;

test.each([
  ["an answer without end", "application/json"],
  ["a refusal without end", "text/html"],
])("%s is read as far as its bound, and refused", async (_what, type) => {
  let sent = 0;
  const server = createServer((_request, response) => {
    response.writeHead(type === "text/html" ? 500 : 200, { "content-type": type });
    const chunk = Buffer.alloc(64 * 1024, " ");
    const send = (): void => {
      if (sent >= ENOUGH) return void response.end();
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      sent += chunk.length;
    };
    response.on("drain", send);
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const client = createPlatformClient({
      endpoint: `http://127.0.0.1:${port}`,
      token: null,
      organizationId: null,
      signal: new AbortController().signal,
      maxAnswerBytes: 1024 * 1024,
    });
    await expect(client.getMe({})).rejects.toMatchObject({
      code: "INVALID_ANSWER",
      message: expect.stringMatching(/more than 1 MB/u),
    });
    // What lies in buffers on the way has been sent, no more.
    expect(sent).toBeLessThan(ENOUGH);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
