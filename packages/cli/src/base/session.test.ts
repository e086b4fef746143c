import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
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
  const endpoint = await serve((_request, response) => {
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
  const client = createClient(endpoint, { maxAnswerBytes: 1024 * 1024 });
  await expect(client.getMe({})).rejects.toMatchObject({
    code: "INVALID_ANSWER",
    message: expect.stringMatching(/more than 1 MB/u),
  });
  // What lies in buffers on the way has been sent, no more.
  expect(sent).toBeLessThan(ENOUGH);
});

test.each([
  '{"hello": 1}',
  '{"id": 1, "name": "Ada", "email": "ada@example.org"}',
  "[]",
  "null",
  "7",
  "",
  '{"user": ',
])(
  "a server that answers a platform's question with '%s' is said to be none, with what to do",
  async (answer) => {
    const endpoint = await serve((_request, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(answer),
    );
    const { getMe, listServices } = createClient(endpoint);
    for (const call of [getMe, listServices])
      await expect(call({})).rejects.toMatchObject({
        code: "NOT_A_PLATFORM",
        message: expect.stringContaining(`The server at ${endpoint} is not a platform API`),
        hint: expect.stringContaining("platform login --endpoint URL"),
        exitCode: 1,
      });
  },
);

test("the answers of a platform that is older or newer are taken, and none where there is none to be", async () => {
  const user = { id: "1", name: "Ada", email: "ada@example.org" };
  const answer = { ...user, organization: {}, organizations: [], since: "a later version" };
  const endpoint = await serve(({ method }, response) => {
    if (method === "DELETE") response.writeHead(204).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  const client = createClient(endpoint);
  expect(await client.getMe({})).toEqual(answer);
  expect(await client.deleteApplication({ params: { id: "a" } })).toBeUndefined();
});

/** A server of one test; its address. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

function createClient(endpoint: string, options: { readonly maxAnswerBytes?: number } = {}) {
  const { signal } = new AbortController();
  return createPlatformClient({ endpoint, token: null, organizationId: null, signal, ...options });
}
