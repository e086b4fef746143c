import { Text } from "@mantine/core";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { SESSION_API } from "@platform/contract/platform-api/session";
import { q, useChange, useLoaded } from "../../api/queries.ts";
import { useScope } from "../../api/scope.tsx";
import type { BodyOf } from "../../api/client.ts";
import { PasswordField, TextField } from "../../forms/fields.tsx";
import { SchemaBackedForm } from "../../forms/schema-backed-form.tsx";
import { ExternalSignIn } from "./external-sign-in.tsx";
import { Entrance } from "../../shell/entrance.tsx";
import { toOwnPath } from "../../util/own-path.ts";

const route = getRouteApi("/sign-in");

/** Email address and password, and back to where the user wanted to go. */
export function SignInPage() {
  const { productName, identityProvider } = useLoaded(q("getConfiguration", {}));
  const { queries } = useScope();
  const { next } = route.useSearch();
  const router = useRouter();
  const signIn = useChange("signIn", { refresh: [] });
  const enter = async () => {
    // What was read without a session, or by another user, is forgotten.
    queries.clear();
    await router.navigate({ href: toOwnPath(next), replace: true });
  };
  return (
    <Entrance title="Sign in" product={productName}>
      {identityProvider !== null && <ExternalSignIn provider={identityProvider} next={next} />}
      <SchemaBackedForm<BodyOf<"signIn">>
        schema={SESSION_API.signIn.body}
        initial={{ email: "", password: "" }}
        submitLabel="Sign in"
        submit={(body) => signIn.run({ body })}
        onDone={() => void enter()}
      >
        <TextField name="email" label="Email address" autoComplete="username" hasFocus />
        <PasswordField name="password" label="Password" autoComplete="current-password" />
      </SchemaBackedForm>
      <Text fz="sm" c="dimmed" mt="lg">
        The first login of a new platform is in the file that <span className="mono">--bootstrap</span> names.
      </Text>
    </Entrance>
  );
}
