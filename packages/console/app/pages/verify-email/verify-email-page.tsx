import { Button, Stack, Text } from "@mantine/core";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { useMe } from "../../api/scope.tsx";
import { Failure } from "../../ui/failure.tsx";
import { PageHeader } from "../../ui/page-header.tsx";

const route = getRouteApi("/in/verify-email/$token");

/** Verifies the user's address with a link. By a button: what only opens links must not do it. */
export function VerifyEmailPage() {
  const { email } = useMe();
  const { token } = route.useParams();
  const router = useRouter();
  const [failure, setFailure] = useState<unknown>(null);
  const verify = useChange("verifyEmail", { done: "Address verified.", refresh: ["getMe"] });
  const run = async () => {
    await verify.run({ params: { token } });
    // In the place of this page: Back does not lead to the used link.
    await router.navigate({ to: "/account", search: {}, replace: true });
  };
  return (
    <>
      <PageHeader title="Verify your email address" />
      <Stack align="flex-start" maw={520}>
        <Text>
          You are signed in as <strong>{email}</strong>. If the mail with the link came to this address,
          verify it here.
        </Text>
        {failure !== null && <Failure error={failure} />}
        <Button loading={verify.isRunning} onClick={() => void run().catch(setFailure)}>
          Verify
        </Button>
      </Stack>
    </>
  );
}
