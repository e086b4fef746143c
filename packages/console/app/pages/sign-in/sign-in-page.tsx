import { Stack, Text } from "@mantine/core";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { q, useLoaded } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import { SignIn } from "../../forms/sign-in.tsx";
import { AppLink } from "../../ui/link.tsx";
import { ExternalSignIn } from "./external-sign-in.tsx";
import { Entrance } from "../../shell/entrance.tsx";
import { hasToken, toOwnPath } from "../../util/own-path.ts";

const route = getRouteApi("/sign-in");

/** Email address and password, and back to where the user wanted to go. */
export function SignInPage() {
  const { productName, identityProvider, signUp, mail } = useLoaded(q("getConfiguration", {}));
  const { queries } = useScope();
  const search = route.useSearch();
  const { next } = search;
  const router = useRouter();
  const enter = async () => {
    // What was read without a session, or by another user, is forgotten.
    queries.clear();
    await router.navigate({ href: toOwnPath(next), replace: true });
  };
  return (
    <Entrance title="Sign in" product={productName}>
      {identityProvider !== null && <ExternalSignIn provider={identityProvider} next={next} />}
      <SignIn onDone={enter} />
      <Stack gap={6} mt="lg" fz="sm">
        {signUp === "open" && (
          <Text inherit>
            No account yet?{" "}
            <AppLink to="/sign-up" search={search} replace underline="always">
              Create one
            </AppLink>
          </Text>
        )}
        {mail ? (
          <AppLink to="/reset-password" replace={hasToken(next)}>
            Forgotten the password?
          </AppLink>
        ) : (
          <Text inherit c="dimmed">
            Forgotten the password? Ask an operator of this platform for a link to set a new one.
          </Text>
        )}
        <Text inherit c="dimmed">
          The first login of a new platform is in the file that <span className="mono">--bootstrap</span>{" "}
          names.
        </Text>
      </Stack>
    </Entrance>
  );
}
