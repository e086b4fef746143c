import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import "./theme/global.css";
import { MantineProvider, localStorageColorSchemeManager } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { createConsole } from "./router.ts";
import { resolveVariables, theme } from "./theme/theme.ts";
import { STORED } from "./util/storage.ts";
import { readNonce } from "./util/nonce.ts";
import { reloadWhenReplaced } from "./util/reload.ts";

const Toasts = lazy(async () => ({ default: (await import("./ui/toasts.tsx")).Toasts }));

const nonce = readNonce();
// react-remove-scroll, within Mantine's dialogs, makes its style element with this one.
Object.assign(globalThis, { __webpack_nonce__: nonce });

reloadWhenReplaced();
const { router, queries } = createConsole();
const schemes = localStorageColorSchemeManager({ key: STORED.colorScheme });
const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no #root");

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      defaultColorScheme="auto"
      colorSchemeManager={schemes}
      getStyleNonce={() => nonce}
    >
      <Suspense>
        <Toasts />
      </Suspense>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
