import type { MailSettings, OidcSettings } from "./accounts.ts";
import { SettingError } from "./settings.ts";

/** Origin of a server of this process that listens on host and port. @throws SettingError */
export function createOrigin(host: string, port: number): string {
  const origin = `http://${toUrlHost(host)}:${port}`;
  if (!URL.canParse(origin))
    throw new SettingError(`--host is "${host}"; it must be an IP address or the name of a host.`);
  return origin;
}

/** What `pg` can read. The value itself is not shown: it may hold a password. @throws SettingError */
export function requireDatabaseUrl(url: string | null): string | null {
  if (url === null || url.startsWith("/") || url.startsWith("socket:")) return url;
  const isReadable = URL.canParse(url) || URL.canParse(url.replace("@/", "@host/"));
  if (/^postgres(?:ql)?:\/\//i.test(url) && isReadable) return url;
  throw new SettingError(
    "DATABASE_URL (--database-url) must be a URL such as postgres://user:password@host:5432/name, with special characters of the password written as %XX.",
  );
}

/** Null without a mail server. The URL itself is not shown: it may hold a password. @throws SettingError */
export function readMail(smtpUrl: string | null, from: string | null, apiUrl: string): MailSettings | null {
  const sender = from ?? `platform@${new URL(apiUrl).hostname}`;
  if (!/^[^\s@<>,]+@[^\s@<>,]+$/u.test(sender))
    throw new SettingError(
      "--mail-from (PLATFORM_MAIL_FROM) must be one email address, such as platform@example.org.",
    );
  if (smtpUrl === null) return null;
  if (isSmtpUrl(smtpUrl)) return { smtpUrl, from: sender };
  throw new SettingError(
    "--smtp-url (PLATFORM_SMTP_URL) must be a URL such as smtp://user:password@mail.example.org:587, with special characters of the password written as %XX.",
  );
}

/** What of a provider is set. */
type OidcWish = { readonly [K in keyof OidcSettings]: K extends "name" ? string : string | null };

/** Null without a provider. @throws SettingError when only a part is set, or tokens would travel in clear text */
export function readOidc({ issuer, clientId, clientSecret, name }: OidcWish): OidcSettings | null {
  if (issuer === null && clientId === null && clientSecret === null) return null;
  if (issuer === null || clientId === null || clientSecret === null)
    throw new SettingError(
      "--oidc-issuer, --oidc-client-id and --oidc-client-secret (PLATFORM_OIDC_...) must be set together.",
    );
  if (isSafeIssuer(issuer)) return { issuer, clientId, clientSecret, name };
  throw new SettingError(
    `--oidc-issuer (PLATFORM_OIDC_ISSUER) is "${issuer}"; it must be a URL that begins with https://; http:// is for this machine only.`,
  );
}

function isSafeIssuer(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const { protocol, hostname } = new URL(issuer);
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isLocal);
}

function isSmtpUrl(text: string): boolean {
  try {
    const { protocol, hostname, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return /^smtps?:$/u.test(protocol) && hostname !== "";
  } catch {
    return false;
  }
}

/** A wildcard address is no address to call; an IPv6 address stands in brackets. */
function toUrlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
