/** The receivers of webhooks that the console shows, run as they are copied, with messages that are signed as the platform does. */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { createWebhookSecret, signMessage } from "@platform/engine/webhooks/sign";
import {
  toReceiverJava,
  toReceiverJavaScript,
  toReceiverPython,
} from "@platform/contract/snippets/receivers";
import { findFreePort } from "../../tools/platform-process.ts";
import { HOSTILE, makeFolder, needLanguage, toCommand } from "./snippet-programs.ts";
import { toBrief } from "./tools.ts";

const WRITERS = { Python: toReceiverPython, JavaScript: toReceiverJavaScript, Java: toReceiverJava } as const;
const LANGUAGES = ["Python", "JavaScript", "Java"] as const;

/** Connects as anybody can, and begins a request that never ends. */
async function begin(port: number, text: string) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await new Promise<void>((sent) => void socket.write(text, () => sent()));
  return socket;
}

const BEGINNING = "POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{";

test.for(LANGUAGES)(
  "the receiver in %s takes what was signed, and nothing else, whoever else goes away, says nothing, or too much",
  async (language, context) => {
    await needLanguage(language, context.skip);
    const folder = await makeFolder();
    context.onTestFinished(() => folder.remove());
    const port = await findFreePort();
    const secret = createWebhookSecret();
    const command = await toCommand(language, WRITERS[language](), folder.path);
    const [program = "", ...args] = toBrief(command);
    const receiver = spawn(program, args, {
      env: { ...process.env, LC_ALL: "C", PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ["ignore", "pipe", "ignore"],
    });
    context.onTestFinished(() => void receiver.kill());
    let printed = "";
    receiver.stdout.setEncoding("utf8").on("data", (part: string) => (printed += part));
    const post = async (headers: Readonly<Record<string, string>>, body: string) =>
      (await fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", headers, body })).status;

    const body = JSON.stringify({ said: HOSTILE });
    const now = Math.floor(Date.now() / 1000);
    const message = { id: "msg_1", timestamp: now, body };
    const headers = signMessage([secret], message);
    await expect.poll(() => post(headers, body).catch(() => 0)).toBe(204);
    const silent = await Promise.all(["", BEGINNING].map((text) => begin(port, text)));
    context.onTestFinished(() => silent.forEach((socket) => void socket.destroy()));
    (await begin(port, BEGINNING)).destroy();
    expect(await post(signMessage([createWebhookSecret(), secret], message), body)).toBe(204);
    const refused: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
      ["another body", headers, `${body} `],
      ["another secret", signMessage([createWebhookSecret()], message), body],
      ["another message", { ...headers, "webhook-id": "msg_2" }, body],
      ["another time", { ...headers, "webhook-timestamp": String(now + 1) }, body],
      ["an old message", signMessage([secret], { ...message, timestamp: now - 400 }), body],
      ["a message of later", signMessage([secret], { ...message, timestamp: now + 400 }), body],
      ["a time that is none", { ...headers, "webhook-timestamp": "soon" }, body],
      ["another kind of signature", { ...headers, "webhook-signature": "v2,AAAA v1a,AAAA v1" }, body],
      ["no signature", {}, body],
    ];
    const answers = [];
    for (const [what, given, content] of refused) answers.push([what, await post(given, content)]);
    expect(answers).toEqual(refused.map(([what]) => [what, 403]));
    const large = { id: "msg_2", timestamp: now, body: JSON.stringify("x".repeat(1_200_000)) };
    const taken = await post(signMessage([secret], large), large.body).catch(() => "cut");
    expect(["cut", 403, 413]).toContain(taken);
    expect(await post(headers, body)).toBe(204);
    await expect.poll(() => printed.trimEnd().split("\n")).toEqual([body, body, body]);
  },
);
