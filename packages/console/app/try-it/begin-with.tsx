import { Alert, Skeleton, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { ReactNode } from "react";
import { useText } from "../api/content.ts";
import { q, useFetched } from "../api/queries.ts";
import { useOrganisation } from "../api/scope.tsx";
import type { Execution } from "../execution/advice.ts";
import { Failure } from "../ui/failure.tsx";
import { AppLink } from "../ui/link.tsx";
import { KeptInput } from "./kept-input.tsx";
import type { KeptText } from "./kept-input.tsx";

interface BeginWithProps {
  /** Identifier of an earlier execution; undefined: the example is begun with. */
  readonly from: string | undefined;
  /** Whether it is one that could have been started here. */
  readonly isOne: (execution: Execution) => boolean;
  /** JSON text of a start's body. */
  readonly example: string;
  /** What is tried, whatever its version: what is entered for it is kept in this tab. */
  readonly of: string;
  /** Gets the text that is begun with. */
  readonly children: (begun: KeptText) => ReactNode;
}

/**
 * What a form begins with: the input of an earlier execution byte by byte, or the example; and before these, what the user has made of
 * either in this tab.
 */
export function BeginWith({ from, ...props }: BeginWithProps) {
  if (from === undefined)
    return (
      <KeptInput of={props.of} origin={props.example}>
        {props.children}
      </KeptInput>
    );
  return <BeginWithEarlier key={from} id={from} {...props} />;
}

interface EarlierProps extends Omit<BeginWithProps, "from"> {
  readonly id: string;
}

function BeginWithEarlier({ id, of, isOne, example, children }: EarlierProps) {
  // What is made of this input takes the place of nothing else that was entered.
  const name = `${of}.${id}`;
  const { slug: org } = useOrganisation();
  const { data: execution, error: missing } = useFetched(q("getExecution", { params: { id } }));
  const fault = execution === undefined ? null : findFault(execution, isOne);
  const isWanted = execution !== undefined && fault === null;
  const { data: input, error: unread } = useText("getExecutionInput", { params: { id } }, isWanted);
  const error = execution === undefined ? missing : unread;
  // Once the form has begun without it, it stays: it would take the place of what is being entered, when it can be read again.
  const [failure, setFailure] = useState<Error | null>(null);
  if (failure === null && input === undefined && fault === null && error !== null) setFailure(error);
  if (input !== undefined && failure === null)
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
        <KeptInput key={name} of={name} origin={input}>
          {children}
        </KeptInput>
      </Stack>
    );
  if (fault !== null)
    return (
      <Stack>
        <Alert variant="light" color="yellow" title="The input of that execution is not taken">
          <Text c="var(--mantine-color-text)">{fault} The form begins without it.</Text>
        </Alert>
        <KeptInput key={of} of={of} origin={example}>
          {children}
        </KeptInput>
      </Stack>
    );
  if (failure === null) return <Skeleton height={320} />;
  return (
    <Stack>
      <Failure
        error={failure}
        title="The input of that execution cannot be read: the form begins without it"
      />
      <KeptInput key={of} of={of} origin={example}>
        {children}
      </KeptInput>
    </Stack>
  );
}

/** Why its input cannot be begun with; null: it can. */
function findFault(execution: Execution, isOne: BeginWithProps["isOne"]): string | null {
  if (!execution.areContentsShown || !isOne(execution)) return "It was not started here.";
  return execution.inputBytes === undefined ? "It is not kept any more." : null;
}
