import { SECOND } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import type { MailSettings } from "../config/accounts.ts";

/** A mail with a link; plain text. */
interface LinkMail {
  /** One address, checked by a schema. */
  readonly to: string;
  readonly subject: string;
  /** Paragraphs above the link. */
  readonly text: string;
  readonly url: string;
  /** What is said to operators in place of a mail. */
  readonly purpose: string;
}

/** Brings links to users. */
export interface Mailer {
  /** Whether links go by mail, and not to the operator's log. */
  readonly sendsMail: boolean;
  /** Returns at once, so that the time of an answer does not say whether a mail was sent; failures are in the log. */
  readonly send: (mail: LinkMail) => void;
  /** The same for a mail that takes time to find out, or turns out to be none (null). */
  readonly prepare: (find: () => Promise<LinkMail | null>) => void;
  /** Waits for mails that are being sent. */
  readonly close: () => Promise<void>;
}

const CONNECT_MS = 10 * SECOND;
const IDLE_MS = 30 * SECOND;

/** Without settings every link is written to the log, at level warn: whoever reads the log can use it. */
export function createMailer(settings: MailSettings | null, logger: Logger): Mailer {
  if (settings === null) {
    const send: Mailer["send"] = ({ to, url, purpose }) =>
      logger.warn({ user: to, url }, `no mail server is set, so hand on this link ${purpose}`);
    const { add, close } = createBackground(logger);
    return {
      sendsMail: false,
      send,
      prepare: (find) => {
        add(async () => {
          const mail = await find();
          if (mail !== null) send(mail);
        });
      },
      close,
    };
  }
  const server = readSmtpUrl(settings.smtpUrl);
  let opened: ReturnType<typeof openTransport> | null = null;
  const { add, close } = createBackground(logger);
  const send = async ({ to, subject, text, url, purpose }: LinkMail): Promise<void> => {
    try {
      opened ??= openTransport(server);
      const transport = await opened;
      await transport.sendMail({
        from: settings.from,
        to: { name: "", address: to },
        subject,
        text: `${text}\n\n${url}\n`,
      });
    } catch (err) {
      logger.error({ err, user: to }, `a mail could not be sent: link ${purpose}`);
    }
  };
  return {
    sendsMail: true,
    send: (mail) => {
      add(() => send(mail));
    },
    prepare: (find) => {
      add(async () => {
        const mail = await find();
        if (mail !== null) await send(mail);
      });
    },
    close: async () => {
      await close();
      (await opened)?.close();
    },
  };
}

/** The library is imported when the first mail is sent: few processes ever send one, and it takes 4 MB. */
async function openTransport(server: ReturnType<typeof readSmtpUrl>) {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    ...server,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: IDLE_MS,
    // Nothing of a mail is read from a file or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Work that nobody waits for but who closes. */
function createBackground(logger: Logger) {
  const running = new Set<Promise<void>>();
  return {
    add: (work: () => Promise<void>): void => {
      const one = work()
        .catch((err: unknown) => {
          logger.error({ err }, "a mail could not be prepared");
        })
        .finally(() => running.delete(one));
      running.add(one);
    },
    close: async (): Promise<void> => {
      await Promise.all(running);
    },
  };
}

const SUBMISSION_PORT = 587;
const SUBMISSION_TLS_PORT = 465;

/** A password is never sent in clear text to another machine: without TLS from the start, STARTTLS is required there. */
function readSmtpUrl(text: string) {
  const { protocol, hostname, port, username, password } = new URL(text);
  const secure = protocol === "smtps:";
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(hostname);
  const user = decodeURIComponent(username);
  return {
    host: hostname.replaceAll(/[[\]]/gu, ""),
    port: port === "" ? (secure ? SUBMISSION_TLS_PORT : SUBMISSION_PORT) : Number(port),
    secure,
    requireTLS: !secure && !isLocal && user !== "",
    ...(user === "" ? {} : { auth: { user, pass: decodeURIComponent(password) } }),
  };
}
