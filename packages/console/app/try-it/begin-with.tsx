import { Alert, Skeleton, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useText } from "../api/content.ts";
import { q, useFetched } from "../api/queries.ts";
import { useOrganisation } from "../api/scope.tsx";
import type { Execution } from "../execution/advice.ts";
import { Failure } from "../ui/failure.tsx";
import { AppLink } from "../ui/link.tsx";

interface BeginWithProps {
  /** Identifier of an earlier execution; undefined: the example is begun with. */
  readonly from: string | undefined;
  /** Whether it is one that could have been started here. */
  readonly isOne: (execution: Execution) => boolean;
  /** JSON text of a start's body. */
  readonly example: string;
  /** Gets the text that is begun with. */
  readonly children: (first: string) => ReactNode;
}

/** What a form begins with: the input of an earlier execution byte by byte, or the example. */
export function BeginWith({ from, ...props }: BeginWithProps) {
  if (from === undefined) return props.children(props.example);
  return <BeginWithEarlier key={from} id={from} {...props} />;
}

interface EarlierProps extends Omit<BeginWithProps, "from"> {
  readonly id: string;
}

function BeginWithEarlier({ id, isOne, example, children }: EarlierProps) {
  const { slug: org } = useOrganisation();
  const { data: execution, error: missing } = useFetched(q("getExecution", { params: { id } }));
  const fault = execution === undefined ? null : findFault(execution, isOne);
  const isWanted = execution !== undefined && fault === null;
  const { data: input, error: unread } = useText("getExecutionInput", { params: { id } }, isWanted);
  const error = execution === undefined ? missing : unread;
  if (input !== undefined)
    return (
      <Stack>
        <Text>
          It begins with the input of{" "}
          <AppLink
            to="/o/$org/executions/$id"
            params={{ org, id }}
            search={{}}
            className="mono"
            style={{ overflowWrap: "anywhere" }}
          >
            {id}
          </AppLink>
          .
        </Text>
        {children(input)}
      </Stack>
    );
  if (fault !== null)
    return (
      <Stack>
        <Alert variant="light" color="yellow" title="The input of that execution is not taken">
          <Text c="var(--mantine-color-text)">{fault} The form begins with the example.</Text>
        </Alert>
        {children(example)}
      </Stack>
    );
  if (error === null) return <Skeleton height={320} />;
  return (
    <Stack>
      <Failure error={error} title="The input of that execution cannot be read: it begins with the example" />
      {children(example)}
    </Stack>
  );
}

/** Why its input cannot be begun with; null: it can. */
function findFault(execution: Execution, isOne: BeginWithProps["isOne"]): string | null {
  if (!execution.areContentsShown || !isOne(execution)) return "It was not started here.";
  return execution.inputBytes === undefined ? "It is not kept any more." : null;
}
