import { createClient } from "@platform/contract/client";
import type { Client, Route } from "@platform/contract/client";
import { parseExactNumbers } from "@platform/contract/exact-number";
import type { LOCAL_SERVICE_API } from "@platform/contract/local-service-api";
import { TRY_PROJECT_PATH } from "@platform/contract/local-try";
import type { LocalTry } from "@platform/contract/local-try";

/* The server that has sent the page of `platform serve`: its own service API, without tokens. */

type Table = typeof LOCAL_SERVICE_API;
/** The response itself: what stands in it keeps its digits. */
type AsContent = Omit<Table["getResult"], "answerMode"> & { readonly answerMode: "content" };

/** Its operations that the page calls. */
type Called = Pick<Table, "startExecution" | "streamEvents" | "cancelExecution"> & {
  readonly getResult: AsContent;
  readonly getProject: Omit<AsContent, "params">;
};

/** A client of the server that has sent the page. */
export type LocalApi = Client<Called>;

/** As the tables have them: those themselves would bring all schemas. */
const ROUTES = {
  startExecution: { method: "POST", path: "/", bodyMode: "raw", answerMode: "bytes" },
  streamEvents: { method: "GET", path: "/{id}/events", bodyMode: "none", answerMode: "events" },
  cancelExecution: { method: "PUT", path: "/{id}/cancel", bodyMode: "none", answerMode: "bytes" },
  getResult: { method: "GET", path: "/{id}/result", bodyMode: "none", answerMode: "content" },
  getProject: { method: "GET", path: TRY_PROJECT_PATH, bodyMode: "none", answerMode: "content" },
} as const satisfies {
  readonly [K in keyof Called]: Route & (K extends "getProject" ? unknown : Pick<Called[K], keyof Route>);
};

/** Sends to the own origin. */
export function createLocalApi(): LocalApi {
  return createClient<Called>(ROUTES, { baseUrl: "" });
}

/** The project as it is served now. @throws RequestRefused, TypeError where the server does not answer */
export async function readLocalProject(api: LocalApi, signal: AbortSignal): Promise<LocalTry> {
  const response = await api.getProject({ signal });
  // Numbers of the schema keep their digits.
  return parseExactNumbers(await response.text()) as LocalTry;
}
