import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import { refuseOtherMethods } from "@platform/engine/http/methods";
import { createRequestLimit } from "../access/request-limit.ts";
import type { Identity } from "../accounts/identity.ts";
import { nameNetwork, readClientAddress } from "../base/client-address.ts";
import type { PlatformAuditStage } from "./audit-stage.ts";

/*
 * The page on which a user confirms a device login: two forms and no script. It neither reads nor makes a session, so that no cookie
 * decides anything: the first form has address and password, and its answer a ticket that only the second form of this page sends
 * back. Besides, a form is taken from a page of this origin only.
 */

/** Path of the page, at the platform API's address. */
export const DEVICE_PATH = "/device";

/** What the page works with. */
export interface DevicePageDeps {
  readonly identity: Pick<Identity, "checkPassword" | "askDeviceLogin" | "decideDeviceLogin">;
  /** Writes wrong passwords in the audit log of their user. */
  readonly audit: Pick<PlatformAuditStage, "watch">;
  /** Origin of the platform API as browsers see it. */
  readonly apiUrl: string;
}

const FORM = "application/x-www-form-urlencoded";
const MAX_FORM_BYTES = 8 * 1024;
/** Answers of one client: codes of others cannot be found by trying. */
const LIMIT = { burst: 20, perSecond: 0.2 };
const UNKNOWN =
  "This code is not known, was answered before, or has expired. Begin anew in your program, and type the code that it shows.";

interface Page {
  readonly status: number;
  readonly title: string;
  /** HTML. */
  readonly content: string;
}

/** `GET` and `POST /device`. */
export async function registerDevicePage(app: FastifyInstance, deps: DevicePageDeps): Promise<void> {
  const limit = createRequestLimit(LIMIT);
  const { origin } = new URL(deps.apiUrl);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      FORM,
      { parseAs: "string", bodyLimit: MAX_FORM_BYTES },
      (_request, body, done) => done(null, body),
    );
    refuseOtherMethods(scope, [
      { method: "GET", path: DEVICE_PATH },
      { method: "POST", path: DEVICE_PATH },
    ]);
    scope.get(DEVICE_PATH, (request, reply) => {
      const code = new URL(request.url, origin).searchParams.get("user_code") ?? "";
      return send(reply, showSignIn(200, code));
    });
    scope.post(DEVICE_PATH, async (request, reply) => {
      const seconds = limit(nameNetwork(readClientAddress(request)));
      if (seconds > 0) return await send(reply, showMessage(429, `Too many tries; wait ${seconds} seconds.`));
      if (!isOwnPage(request, origin))
        return await send(reply, showMessage(403, `Open ${origin}${DEVICE_PATH} and type the code there.`));
      const form = new URLSearchParams(typeof request.body === "string" ? request.body : "");
      // PostgreSQL's `text` cannot hold it.
      if (form.toString().includes("%00"))
        return await send(reply, showMessage(400, "The form has a null character."));
      return await send(reply, await answer(deps, request, form));
    });
  });
}

async function answer(
  { identity, audit }: DevicePageDeps,
  request: FastifyRequest,
  form: URLSearchParams,
): Promise<Page> {
  const ticket = form.get("ticket");
  if (ticket !== null) {
    const decision = form.get("decision") === "approve" ? "approved" : "denied";
    if (!(await identity.decideDeviceLogin(ticket, decision))) return showMessage(400, UNKNOWN);
    return decision === "approved"
      ? showMessage(200, "The program is logged in. You can close this page.")
      : showMessage(200, "The program was refused. You can close this page.");
  }
  const code = form.get("user_code") ?? "";
  const [email, password] = [form.get("email") ?? "", form.get("password") ?? ""];
  try {
    const ip = readClientAddress(request);
    const user = await audit.watch({ action: "device-login.confirm", ip }, () =>
      identity.checkPassword({ email, password, ip }),
    );
    const question = await identity.askDeviceLogin(code, user);
    return question === null ? showSignIn(400, code, UNKNOWN) : showQuestion(question, email, code);
  } catch (error) {
    if (error instanceof Problem) return showSignIn(error.status, code, error.message);
    throw error;
  }
}

/** Browsers send Sec-Fetch-Site to https and loopback only; elsewhere Origin decides. */
function isOwnPage({ headers }: FastifyRequest, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined ? headers.origin === origin : site === "same-origin";
}

function showSignIn(status: number, code: string, problem = ""): Page {
  const content = `${problem === "" ? "" : `<p role="alert">${escape(problem)}</p>`}
<p>A program asks to act for you. Go on only if you have started it yourself and it shows this very code.</p>
<form method="post" action="${DEVICE_PATH}">
<label>Code <input name="user_code" value="${escape(code.slice(0, 20))}" required maxlength="20" autocomplete="off" autocapitalize="characters"></label>
<label>Email address <input name="email" type="email" required maxlength="320" autocomplete="username"></label>
<label>Password <input name="password" type="password" required maxlength="256" autocomplete="current-password"></label>
<button>Go on</button>
</form>`;
  return { status, title: "Log in a program", content };
}

function showQuestion(
  question: {
    readonly clientName: string;
    readonly ip: string;
    readonly scopes: readonly string[];
    readonly ticket: string;
  },
  email: string,
  code: string,
): Page {
  const { clientName, ip, scopes, ticket } = question;
  const content = `<p><strong>${escape(clientName)}</strong>, at the address ${escape(ip)}, shows the code <strong>${escape(code)}</strong> and asks for a personal access token of ${escape(email)} with the scope ${escape(scopes.join(", "))}, for 90 days.</p>
<form method="post" action="${DEVICE_PATH}">
<input type="hidden" name="ticket" value="${escape(ticket)}">
<button name="decision" value="approve">Confirm</button>
<button name="decision" value="deny">Refuse</button>
</form>`;
  return { status: 200, title: "Confirm the login", content };
}

function showMessage(status: number, text: string): Page {
  return { status, title: "Log in a program", content: `<p role="status">${escape(text)}</p>` };
}

function send(reply: FastifyReply, { status, title, content }: Page): FastifyReply {
  const nonce = randomBytes(16).toString("base64");
  return reply.code(status).headers({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // Not no-referrer, with which the form's Origin would be null.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
  }).send(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style nonce="${nonce}">body{font:1rem/1.5 sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem}label{display:block;margin:1rem 0}input{display:block;width:100%;font:inherit}button{font:inherit;padding:.4rem 1rem}</style></head>
<body><main><h1>${title}</h1>
${content}
</main></body>
</html>
`);
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (letter) => `&#${letter.charCodeAt(0)};`);
}
