import { chromium } from "playwright-core";
import type { Browser, BrowserContext } from "playwright-core";
import { findChromium } from "../../../../tools/chromium.ts";

const SECOND = 1_000;
/** A busy machine takes ten times as long as a quiet one. */
const PATIENCE_MS = 60 * SECOND;

/** Widths at which every page has to be right. */
export const WIDTHS = { wide: 1280, narrow: 375 } as const;

/** Who opens pages, and in what. */
export interface ProfileOptions {
  /** Default: nobody is signed in. */
  readonly as?: { readonly email: string; readonly password: string } | null;
  /** Default: the session that another profile of the same user has begun, if it has not ended. */
  readonly hasOwnSession?: boolean;
  readonly width?: number;
  readonly scheme?: "light" | "dark";
}

let launched: Promise<Browser> | undefined;

/**
 * The browser of this process, which ends with it: files of stories share processes (vitest.config.ts), and have profiles of their own.
 * A machine without one leaves these stories out.
 */
export function provideBrowser(): Promise<Browser> {
  launched ??= launchBrowser().catch((error: unknown) => {
    launched = undefined;
    throw error;
  });
  return launched;
}

async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("there is no Chromium: sh tools/install-chromium.sh");
  // In a container there is no second sandbox for root to set up.
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  browser.on("disconnected", () => (launched = undefined));
  return browser;
}

/** A new profile; `origin` is that of the pages. @throws Error where there is no browser */
export async function openProfile(
  origin: string,
  { as = null, hasOwnSession = false, width = WIDTHS.wide, scheme = "light" }: ProfileOptions = {},
): Promise<BrowserContext> {
  const browser = await provideBrowser();
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height: 900 },
    colorScheme: scheme,
    // Colours that are still changing have a contrast of their own.
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  if (as === null || (!hasOwnSession && (await takeSession(context, origin, as)))) return context;
  await signIn(context, origin, as);
  if (!hasOwnSession) sessions.set(toKey(origin, as), await context.cookies());
  return context;
}

type User = NonNullable<ProfileOptions["as"]>;
type Cookies = Awaited<ReturnType<BrowserContext["cookies"]>>;

/** Sessions by platform and user: to check a password takes 0.4 s of a processor. */
const sessions = new Map<string, Cookies>();
const toKey = (origin: string, { email, password }: User) => JSON.stringify([origin, email, password]);
const HEADERS = { "x-requested-by": "console" };

/** Whether there is one that has not ended. */
async function takeSession(context: BrowserContext, origin: string, user: User): Promise<boolean> {
  const cookies = sessions.get(toKey(origin, user));
  if (cookies === undefined) return false;
  await context.addCookies(cookies);
  if ((await context.request.get(`${origin}/api/me`, { headers: HEADERS })).ok()) return true;
  await context.clearCookies();
  return false;
}

async function signIn(context: BrowserContext, origin: string, { email, password }: User): Promise<void> {
  const answer = await context.request.post(`${origin}/api/session`, {
    headers: { ...HEADERS, origin },
    data: { email, password },
  });
  if (!answer.ok()) throw new Error(`signing in was answered ${answer.status()}: ${await answer.text()}`);
}
