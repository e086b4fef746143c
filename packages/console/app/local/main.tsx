import "./kit.ts";
import "../theme/global.css";
import "../shell/shell.css";
import "./local.css";
import { MantineProvider, localStorageColorSchemeManager } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createLocalApi } from "../api/local.ts";
import { resolveVariables, theme } from "../theme/theme.ts";
import { readNonce } from "../util/nonce.ts";
import { STORED } from "../util/storage.ts";
import { TryPage } from "./try-page.tsx";

const schemes = localStorageColorSchemeManager({ key: STORED.colorScheme });
const root = document.querySelector("#root");
if (root === null) throw new Error("try.html has no #root");

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      defaultColorScheme="auto"
      colorSchemeManager={schemes}
      getStyleNonce={() => readNonce()}
    >
      <TryPage api={createLocalApi()} />
    </MantineProvider>
  </StrictMode>,
);
