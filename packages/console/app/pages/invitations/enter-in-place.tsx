import { SegmentedControl, Text } from "@mantine/core";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import type { AnswerOf } from "../../api/client.ts";
import { q, useLoaded } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import { SignIn } from "../../forms/sign-in.tsx";
import { SignUp } from "../../forms/sign-up.tsx";
import { ExternalSignIn } from "../sign-in/external-sign-in.tsx";

const route = getRouteApi("/invitations/$token");

const WAYS = [
  { value: "new", label: "New account" },
  { value: "known", label: "Sign in" },
];

/** For who is not signed in. A new account joins as it is made; who has one signs in, and accepts on the same page. */
export function EnterInPlace() {
  const { identityProvider, signUp } = useLoaded(q("getConfiguration", {}));
  const { token } = route.useParams();
  const { queries } = useScope();
  const router = useRouter();
  const [way, setWay] = useState(signUp === "closed" ? "known" : "new");
  const stay = async () => {
    queries.clear();
    await router.invalidate();
  };
  const enter = async ({ organization, organizations }: AnswerOf<"signUp">) => {
    queries.clear();
    // A new user has two: their own, and that of the invitation.
    const joined = organizations.find(({ isPersonal }) => !isPersonal) ?? organization;
    await router.navigate({ to: "/o/$org", params: { org: joined.slug }, replace: true });
  };
  return (
    <>
      {identityProvider !== null && (
        <ExternalSignIn provider={identityProvider} next={`/invitations/${token}`} />
      )}
      {signUp === "closed" ? (
        <Text mb="md">Sign in to accept. Nobody can create an account on this platform.</Text>
      ) : (
        <SegmentedControl data={WAYS} value={way} onChange={setWay} fullWidth mb="lg" aria-label="Account" />
      )}
      {way === "new" ? <SignUp invitation={token} onCreated={enter} /> : <SignIn onDone={stay} />}
    </>
  );
}
