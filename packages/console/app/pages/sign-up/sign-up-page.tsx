import { Text } from "@mantine/core";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { q, useLoaded } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import { SignUp } from "../../forms/sign-up.tsx";
import { Entrance } from "../../shell/entrance.tsx";
import { AppLink } from "../../ui/link.tsx";
import { toOwnPath } from "../../util/own-path.ts";
import { ExternalSignIn } from "../sign-in/external-sign-in.tsx";

const route = getRouteApi("/sign-up");

const CLOSED = {
  invitation:
    "Only who is invited can create an account on this platform. Ask an owner of an organisation for an invitation: it is a link to open.",
  closed: "Nobody can create an account on this platform. Ask its operator for one.",
} as const;

/** A new account with an organisation of its own. */
export function SignUpPage() {
  const { productName, identityProvider, signUp } = useLoaded(q("getConfiguration", {}));
  const { queries } = useScope();
  const search = route.useSearch();
  const { next } = search;
  const router = useRouter();
  const enter = async () => {
    queries.clear();
    await router.navigate({ href: toOwnPath(next), replace: true });
  };
  return (
    <Entrance title="Create an account" product={productName}>
      {signUp === "open" ? (
        <>
          {identityProvider !== null && <ExternalSignIn provider={identityProvider} next={next} />}
          <SignUp onCreated={enter} />
        </>
      ) : (
        <Text>{CLOSED[signUp]}</Text>
      )}
      <Text fz="sm" mt="lg">
        You have an account?{" "}
        <AppLink to="/sign-in" search={search} replace underline="always">
          Sign in
        </AppLink>
      </Text>
    </Entrance>
  );
}
