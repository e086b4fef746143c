import { QueryClient } from "@tanstack/react-query";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { noteUnsaved } from "../ui/unsaved.ts";
import { findMe } from "./session.ts";

/** Whose session the browser has. */
let id = "anna";
beforeAll(() => void vi.stubGlobal("fetch", async () => Response.json({ id, organizations: [] })));
afterAll(() => vi.unstubAllGlobals());

test("where something is entered, a page is that of its user, though another one's record was read since; then nothing of theirs is left", async () => {
  const queries = new QueryClient();
  expect(await findMe(queries)).toMatchObject({ id: "anna" });
  queries.setQueryData(["listServices", "of-anna"], "her services");
  const forget = noteUnsaved(() => true);
  id = "ben";
  await queries.refetchQueries({ queryKey: ["getMe"] });
  expect(await findMe(queries)).toMatchObject({ id: "anna" });
  forget();
  expect(await findMe(queries)).toMatchObject({ id: "ben" });
  expect(queries.getQueryData(["listServices", "of-anna"])).toBeUndefined();
});
