import { afterEach, beforeEach, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { startMailServer } from "../testing/mail-server.ts";
import type { MailServer } from "../testing/mail-server.ts";
import { createRecordingLogger } from "../testing/test-database.ts";
import type { RecordingLogger } from "../testing/test-database.ts";
import { createMailer } from "./mailer.ts";

let server: MailServer;
let logger: RecordingLogger;

beforeEach(async () => {
  server = await startMailServer();
  logger = createRecordingLogger();
});
afterEach(() => server.close());

const MAIL = {
  to: "ada@example.org",
  subject: "Set a new password",
  text: "The link works once:",
  url: "http://api.test/reset-password/secret",
  purpose: "to set a new password",
};

test("a mail has sender, recipient, subject and the link on a line of its own", async () => {
  const mailer = createMailer({ smtpUrl: server.url, from: "platform@example.org" }, logger);
  mailer.send(MAIL);
  await mailer.close();
  expect(server.mails).toHaveLength(1);
  expect(server.mails[0]?.to).toEqual(["ada@example.org"]);
  const message = server.mails[0]?.message ?? "";
  expect(message).toMatch(/^From: platform@example\.org\r$/mu);
  expect(message).toMatch(/^Subject: Set a new password\r$/mu);
  expect(message).toMatch(/^http:\/\/api\.test\/reset-password\/secret\r$/mu);
  expect(server.passwords).toEqual(["p@ss"]);
  expect(logger.entries).toEqual([]);
});

test("what a user chose as a name adds no header and no recipient", async () => {
  const mailer = createMailer({ smtpUrl: server.url, from: "platform@example.org" }, logger);
  mailer.send({ ...MAIL, subject: 'Invitation to "x"\r\nBcc: eve@example.org\r\n\r\nbody' });
  await mailer.close();
  expect(server.mails[0]?.to).toEqual(["ada@example.org"]);
  expect(server.mails[0]?.message).not.toMatch(/^Bcc:/mu);
});

test("a mail that cannot be sent is in the log, without its link", async () => {
  const wrong = server.url.replace("p%40ss", "wrong");
  const mailer = createMailer({ smtpUrl: wrong, from: "platform@example.org" }, logger);
  mailer.send(MAIL);
  await waitUntil(() => logger.entries.length === 1);
  expect(logger.entries).toMatchObject([{ level: "error", fields: { user: "ada@example.org" } }]);
  expect(JSON.stringify(logger.entries)).not.toContain("secret");
  await mailer.close();
});

test("the password of the mail server is not sent in clear text to another machine", async () => {
  // The address of all interfaces reaches this machine, and is no loopback address.
  const elsewhere = server.url.replace("127.0.0.1", "0.0.0.0");
  const mailer = createMailer({ smtpUrl: elsewhere, from: "platform@example.org" }, logger);
  mailer.send(MAIL);
  await mailer.close();
  expect([server.passwords, server.mails]).toEqual([[], []]);
  expect(logger.entries).toMatchObject([{ level: "error" }]);
});

test("without a mail server the link is in the log", async () => {
  const mailer = createMailer(null, logger);
  mailer.send(MAIL);
  expect([mailer.sendsMail, logger.entries]).toEqual([
    false,
    [
      {
        level: "warn",
        message: "no mail server is set, so hand on this link to set a new password",
        fields: { user: MAIL.to, url: MAIL.url },
      },
    ],
  ]);
  await mailer.close();
});
