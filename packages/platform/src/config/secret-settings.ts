import { secretText } from "./settings.ts";
import type { Setting } from "./settings.ts";

/** Settings of the platform's secret, by the name of their flags. */
export const SECRET_SETTINGS = {
  secret: secretText(
    "PLATFORM_SECRET",
    "TEXT",
    "Encrypts signing keys and services' secrets at rest; default: made once and kept in the data directory",
  ),
  "other-secret": secretText(
    "PLATFORM_OTHER_SECRET",
    "TEXT",
    "While --secret is replaced: opens what is still encrypted with another one; better as a variable",
  ),
} as const satisfies Record<string, Setting<unknown>>;
