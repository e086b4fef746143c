import { Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { q, useLoaded } from "../../api/queries.ts";
import { createScope, ScopeProvider, useScope } from "../../api/scope.tsx";
import { Entrance } from "../../shell/entrance.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { AcceptInvitation } from "./accept-invitation.tsx";
import { DeclineInvitation } from "./decline-invitation.tsx";
import { EnterInPlace } from "./enter-in-place.tsx";

const route = getRouteApi("/invitations/$token");

/** What the link of an invitation leads to: who invites to what, a way to accept, in place for who is not signed in, and one to decline. */
export function InvitationPage() {
  const { productName } = useLoaded(q("getConfiguration", {}));
  const { link, me } = route.useLoaderData();
  const { queries } = useScope();
  const [isDeclined, setIsDeclined] = useState(false);
  if (isDeclined || link.kind === "closed")
    return (
      <Entrance
        title={isDeclined ? "The invitation was declined" : "This invitation cannot be used"}
        product={productName}
      >
        <Text mb="lg">{link.kind === "closed" ? link.detail : "Its link opens nothing any more."}</Text>
        <AppLink to="/" replace>
          Go to the first page
        </AppLink>
      </Entrance>
    );
  const { organizationName, invitedBy, role, expiresAt } = link.invitation;
  return (
    <Entrance title={`Invitation to ${organizationName}`} product={productName}>
      <Text mb="lg" style={{ overflowWrap: "anywhere" }}>
        {invitedBy} invites you to become {role} of {organizationName}. The link works once, and expires{" "}
        <Time at={expiresAt} />.
      </Text>
      {me === null ? (
        <EnterInPlace />
      ) : (
        <ScopeProvider scope={createScope(queries, me)}>
          <AcceptInvitation me={me} organisationName={organizationName} />
        </ScopeProvider>
      )}
      <DeclineInvitation organisationName={organizationName} onDeclined={() => setIsDeclined(true)} />
    </Entrance>
  );
}
