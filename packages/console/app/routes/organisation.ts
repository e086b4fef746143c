import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { mayCall } from "../api/access.ts";
import { pages } from "../api/queries.ts";
import { oneOf, search, text } from "../util/url-state.ts";
import { organisation } from "./root.ts";

const membersSearch = search({ new: oneOf("invitation"), role: text() });

const members = createRoute({
  getParentRoute: () => organisation,
  path: "members",
  validateSearch: membersSearch,
  loader: ({ context: { load, scope } }) =>
    Promise.all([
      load(pages("listMembers", {})),
      mayCall(scope, "listInvitations") ? load(pages("listInvitations", {})) : null,
    ]),
  component: lazyRouteComponent(() => import("../pages/members/members-page.tsx"), "MembersPage"),
});

/** The organisation itself: who belongs to it. */
export const organisationRoutes = [members] as const;
