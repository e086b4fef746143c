import { Webhook } from "standardwebhooks";
import { afterEach, expect, test } from "vitest";
import { useWebhookReceiver } from "@platform/engine/testing/webhook-receiver";
import { createCliHome } from "../testing/cli-process.ts";
import { serveProject } from "../testing/served-project.ts";
import type { ServedProject } from "../testing/served-project.ts";

const PROGRAM = `
def run(data):
    if data.get("fail"):
        raise ValueError("no")
    return {"secret": "of the result"}
`;

const receiver = useWebhookReceiver();
const { received } = receiver;
let served: ServedProject | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

/** As it is named on a developer's machine. */
const at = (path: string) => receiver.urlOf(path, "localhost");
const readSecret = (server: ServedProject) =>
  (JSON.parse(server.running.stdout()) as { webhookSecret: string }).webhookSecret;

test("a receiver on the same machine is told each end, signed with the secret that the server prints, of items of a batch as well", async () => {
  served = await serveProject(PROGRAM);
  const server = served;
  const rehearsed = await server.call("/", {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "dry-run" },
    body: JSON.stringify({ webhookUrl: at("/hook") }),
  });
  expect(rehearsed.status).toBe(200);
  const good = await server.start({ webhookUrl: at("/hook?order=1") });
  const bad = await server.start({ data: { fail: true }, webhookUrl: at("/hook?order=2") });
  const batch = await server.call("/batch", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ items: [{ webhookUrl: at("/hook?order=3") }, {}] }),
  });
  expect([good.status, bad.status, batch.status]).toEqual([201, 201, 201]);
  await expect.poll(() => received.length).toBe(3);
  const secret = readSecret(server);
  const told = received.map(({ path, headers, body }) => {
    const message: unknown = new Webhook(secret).verify(body, headers);
    return [path, message];
  });
  expect(new Map(told as [string, unknown][])).toEqual(
    new Map([
      ["/hook?order=1", expect.objectContaining({ type: "execution.succeeded" })],
      ["/hook?order=2", expect.objectContaining({ type: "execution.failed" })],
      ["/hook?order=3", expect.objectContaining({ type: "execution.succeeded" })],
    ]),
  );
  expect(received.find(({ path }) => path.endsWith("2"))?.body).toContain(String(bad.body["id"]));
  expect(JSON.stringify(received)).not.toContain("of the result");
});

test("a secret can be given; what is not delivered is in the log with its origin alone", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  served = await serveProject(PROGRAM, { flags: ["--webhook-secret", secret] });
  const server = served;
  expect(readSecret(server)).toBe(secret);
  receiver.answer = (response) => void response.writeHead(410).end();
  await server.start({ webhookUrl: at("/down?key=of-the-caller") });
  await server.start({ webhookUrl: "http://169.254.169.254/latest?key=of-the-caller" });
  await expect.poll(() => server.running.stderr()).toContain(`${at("")} was not told. It answered 410.`);
  await expect
    .poll(() => server.running.stderr())
    .toContain("http://169.254.169.254 was not told. The host is at a private, local or reserved address");
  expect(server.running.stderr()).not.toContain("of-the-caller");
  const refused = await server.start({ webhookUrl: "ftp://example.org/" });
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: "/webhookUrl" }] } });
});

test.each([
  [["--webhook-secret", "open-sesame"], "--webhook-secret must be"],
  [["--webhook-open", "everything"], "--webhook-open: 'everything' is no address or range"],
])("serve %j is refused before anything is prepared", async (flags, reason) => {
  const home = await createCliHome();
  const { exitCode, stderr } = await home.run(["serve", ...flags]);
  await home.close();
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(reason)]);
  expect(stderr).not.toContain("open-sesame");
});
