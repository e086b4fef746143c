import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { waitUntil } from "@platform/engine/testing/wait-until";

/** A mail as the server received it. */
interface ReceivedMail {
  /** Of the envelope. */
  readonly to: readonly string[];
  /** Headers and body, decoded as far as tests read them. */
  readonly message: string;
}

export interface MailServer {
  /** With the user's name and password. */
  readonly url: string;
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Passwords that were sent to it. */
  readonly passwords: readonly string[];
  /** The last part of the link in the newest mail to the address; waits for it. */
  readonly readLink: (to: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** A real SMTP server on this machine, without TLS. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const passwords: string[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, callback) => {
      passwords.push(password ?? "");
      const isRight = username === "platform" && password === "p@ss";
      callback(isRight ? null : new Error("wrong password"), { user: username ?? "" });
    },
    onData: (stream, { envelope }, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
      stream.on("end", () => {
        const message = Buffer.concat(chunks).toString();
        const to = envelope.rcptTo.map(({ address }) => address);
        // Soft line breaks of quoted-printable.
        mails.push({ to, message: message.replaceAll("=\r\n", "").replaceAll("=3D", "=") });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  const find = (to: string) => mails.findLast((mail) => mail.to.includes(to));
  return {
    url: `smtp://platform:p%40ss@127.0.0.1:${port}`,
    port,
    mails,
    passwords,
    readLink: async (to) => {
      await waitUntil(() => find(to) !== undefined);
      const [, token = ""] = /^https?:\/\/\S+\/([\w-]{43})\r?$/mu.exec(find(to)?.message ?? "") ?? [];
      return token;
    },
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
