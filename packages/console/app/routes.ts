import { accountRoutes } from "./routes/account.ts";
import { applicationRoutes } from "./routes/applications.ts";
import { dataPoolRoutes } from "./routes/data-pools.ts";
import { executionRoutes, shortLinkRoutes } from "./routes/executions.ts";
import { homeRoutes } from "./routes/home.ts";
import { linkRoutes, ownLinkRoutes } from "./routes/links.ts";
import { marketplaceRoutes } from "./routes/marketplace.ts";
import { organisationRoutes } from "./routes/organisation.ts";
import { operatorRoutes } from "./routes/operator.ts";
import { quantumRoutes } from "./routes/quantum.ts";
import { organisation, root, signedIn } from "./routes/root.ts";
import { serviceRoutes } from "./routes/services.ts";
import { ownRoutes, sessionRoutes } from "./routes/session.ts";
import { usageRoutes } from "./routes/usage.ts";

/** The whole map of addresses; a file of routes/ has one subject: path, search parameters, what is loaded, and the page. */
export const routeTree = root.addChildren([
  ...sessionRoutes,
  ...linkRoutes,
  signedIn.addChildren([
    ...ownRoutes,
    ...ownLinkRoutes,
    ...accountRoutes,
    ...shortLinkRoutes,
    ...operatorRoutes,
    organisation.addChildren([
      ...homeRoutes,
      ...serviceRoutes,
      ...marketplaceRoutes,
      ...applicationRoutes,
      ...dataPoolRoutes,
      ...executionRoutes,
      ...quantumRoutes,
      ...usageRoutes,
      ...organisationRoutes,
    ]),
  ]),
]);
