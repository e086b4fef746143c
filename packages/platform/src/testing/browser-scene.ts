import { afterAll, beforeAll, beforeEach } from "vitest";
import { createBrowser } from "./browser.ts";
import type { Browser } from "./browser.ts";
import { createTestInstance } from "./instance.ts";
import type { TestInstance } from "./instance.ts";
import { createTestDatabase } from "./test-database.ts";
import type { TestDatabase } from "./test-database.ts";

/** Two instances on one database for the tests of a file, and a new user for each of them. */
interface BrowserScene extends Browser {
  readonly home: TestDatabase;
  readonly here: TestInstance;
  /** Another host: it hears of changes only through the database. */
  readonly there: TestInstance;
}

/** Makes the scene of a file. What it has is there in tests only. */
export function useBrowser(): BrowserScene {
  let instances: Pick<BrowserScene, "home" | "here" | "there"> | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    const home = await createTestDatabase();
    const here = await createTestInstance({ database: home.database });
    const there = await createTestInstance({ database: home.connect() });
    instances = { home, here, there };
  });
  afterAll(async () => {
    await Promise.all([instances?.here.close(), instances?.there.close()]);
    await instances?.home.close();
  });
  beforeEach(async () => {
    browser = await createBrowser(known(instances).here);
  });
  return {
    get home() {
      return known(instances).home;
    },
    get here() {
      return known(instances).here;
    },
    get there() {
      return known(instances).there;
    },
    get user() {
      return known(browser).user;
    },
    signIn: (...args) => known(browser).signIn(...args),
    startSession: () => known(browser).startSession(),
  };
}

function known<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("The scene is there in tests only.");
  return part;
}
