import { Stack, Text } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { explainError, isForbidden, isNotFound } from "../api/explain-error.ts";
import { Failure } from "../ui/failure.tsx";
import { AppLink } from "../ui/link.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import "./shell.css";

/** A page that does not exist, or whose subject does not. */
export function NotFoundPage() {
  return (
    <NotFound>
      This does not exist, or is not yours. Another organisation may have it: the one in use is in the header.
    </NotFound>
  );
}

function NotFound({ children }: { readonly children: ReactNode }) {
  return (
    <Stack p="md" align="flex-start">
      <PageHeader title="Not found" />
      <Text>{children}</Text>
      <AppLink to="/">Go to the first page</AppLink>
    </Stack>
  );
}

/** A page whose loader or component has failed. */
export function RouteFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (isNotFound(error)) return <NotFoundPage />;
  if (isForbidden(error)) return <NotAllowed error={error} />;
  const { isRetryable, code } = explainError(error);
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Stack p="md" align="flex-start">
      <PageHeader title="This page could not be shown" />
      {/* What the platform has refused it refuses again. */}
      <Failure error={error} {...(isRetryable || code === undefined ? { retry } : {})} />
      {!isRetryable && <AppLink to="/">Go to the first page</AppLink>}
    </Stack>
  );
}

/** Trying again is of no use. */
function NotAllowed({ error }: { readonly error: unknown }) {
  return (
    <Stack p="md" align="flex-start">
      <PageHeader title="You may not see this page" />
      <Text>{explainError(error).detail}</Text>
      <AppLink to="/">Go to the first page</AppLink>
    </Stack>
  );
}

/** The same outside of the shell, which has the landmark of the page: also where an organisation is gone while it was open. */
export function LonelyNotFoundPage() {
  return (
    <main className="lonely">
      <NotFound>
        This does not exist, or is not yours. If it did a moment ago, the organisation was deleted or renamed,
        or you are not a member of it any more.
      </NotFound>
    </main>
  );
}

/** The same outside of the shell. */
export function LonelyRouteFailure(props: ErrorComponentProps) {
  return (
    <main className="lonely">
      <RouteFailure {...props} />
    </main>
  );
}
