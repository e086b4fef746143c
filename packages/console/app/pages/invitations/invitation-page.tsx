import { Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { q, useLoaded } from "../../api/queries.ts";
import { Entrance } from "../../shell/entrance.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { AcceptInvitation } from "./accept-invitation.tsx";
import { EnterInPlace } from "./enter-in-place.tsx";

const route = getRouteApi("/invitations/$token");

/** What the link of an invitation leads to: who invites to what, and a way to accept, in place for who is not signed in. */
export function InvitationPage() {
  const { productName } = useLoaded(q("getConfiguration", {}));
  const { link, me } = route.useLoaderData();
  if (link.kind === "closed")
    return (
      <Entrance title="This invitation cannot be used" product={productName}>
        <Text mb="lg">{link.detail}</Text>
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
      {me === null ? <EnterInPlace /> : <AcceptInvitation me={me} organisationName={organizationName} />}
    </Entrance>
  );
}
