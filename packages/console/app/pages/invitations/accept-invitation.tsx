import { Button, Stack, Text } from "@mantine/core";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import type { Me } from "../../api/scope.tsx";
import { useSignOut } from "../../api/use-sign-out.ts";
import { Failure } from "../../ui/failure.tsx";
import { AppLink } from "../../ui/link.tsx";
import { useOnePress } from "../../ui/use-one-press.ts";

const route = getRouteApi("/invitations/$token");

interface AcceptInvitationProps {
  readonly me: Me;
  readonly organisationName: string;
}

/** For who is signed in: join, or be somebody else. */
export function AcceptInvitation({ me, organisationName }: AcceptInvitationProps) {
  const { token } = route.useParams();
  const { queries } = useScope();
  const router = useRouter();
  const [failure, setFailure] = useState<unknown>(null);
  const accept = useChange("acceptInvitation", {
    done: `You are a member of ${organisationName} now.`,
    refresh: [],
  });
  const { signOut, isRunning: isLeaving } = useSignOut();
  const join = async () => {
    const { slug } = await accept.run({ params: { invitation: token } });
    queries.clear();
    // In the place of this page: Back does not lead to the used link.
    await router.navigate({ to: "/o/$org", params: { org: slug }, replace: true });
  };
  const { isRunning: isJoining, press } = useOnePress(() => join().catch(setFailure));
  const leave = async () => {
    await signOut();
    await router.invalidate();
  };
  return (
    <Stack>
      <Text>
        You are signed in as <strong>{me.email}</strong>.
      </Text>
      {failure !== null && <Failure error={failure} />}
      <Button loading={isJoining} onClick={press}>
        Accept
      </Button>
      <Button variant="default" loading={isLeaving} onClick={() => void leave().catch(setFailure)}>
        Use another account
      </Button>
      <Text fz="sm" ta="center">
        <AppLink to="/" replace>
          Not now
        </AppLink>
      </Text>
    </Stack>
  );
}
