import { SIGN_UP_MODES } from "./accounts.ts";
import { choice, optionalText, secretText, text } from "./settings.ts";
import type { Setting } from "./settings.ts";

/** Settings of accounts, by the name of their flags: who can sign up, where users sign in, how links reach them. */
export const ACCOUNT_SETTINGS = {
  "sign-up": choice(
    "PLATFORM_SIGN_UP",
    "Who can create an account: everybody, who has an invitation, nobody",
    SIGN_UP_MODES,
    "invitation",
  ),
  "smtp-url": secretText(
    "PLATFORM_SMTP_URL",
    "URL",
    "Mail server: smtp://USER:PASSWORD@HOST:587, or smtps:// for TLS from the start; without it links for users are in the log",
  ),
  "mail-from": optionalText(
    "PLATFORM_MAIL_FROM",
    "ADDRESS",
    "Sender of mails; default platform@HOST, the host of --api-url",
  ),
  "oidc-issuer": optionalText(
    "PLATFORM_OIDC_ISSUER",
    "URL",
    "OpenID provider at which users can sign in; with --oidc-client-id and --oidc-client-secret",
  ),
  "oidc-client-id": optionalText("PLATFORM_OIDC_CLIENT_ID", "TEXT", "This platform's id at the provider"),
  "oidc-client-secret": secretText(
    "PLATFORM_OIDC_CLIENT_SECRET",
    "TEXT",
    "This platform's secret at the provider; better as a variable",
  ),
  "oidc-name": text("PLATFORM_OIDC_NAME", "TEXT", "What people call the provider", "single sign-on"),
} as const satisfies Record<string, Setting<unknown>>;
