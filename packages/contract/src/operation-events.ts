import type { Static, TSchema } from "typebox";
import { readEvents } from "./event-stream.ts";
import type { Operation, OperationEvent } from "./operation.ts";
import type { ProblemBody } from "./problems.ts";

interface TypedEvent<K extends string, D> {
  readonly event: K;
  readonly data: D;
  /** What to send as Last-Event-ID to go on behind it; null: none yet. */
  readonly id: string | null;
}

/** The events of an operation's stream, and `closed`, with which the platform ends it before its time. */
export type EventOf<O extends Operation> =
  | (O extends { readonly events: infer E extends Readonly<Record<string, OperationEvent>> }
      ? { [K in keyof E & string]: TypedEvent<K, DataOf<E[K]>> }[keyof E & string]
      : never)
  | TypedEvent<"closed", ProblemBody>;

type DataOf<E extends OperationEvent> = E["schema"] extends infer S extends TSchema ? Static<S> : never;

/**
 * Reads the answer to an operation that the client gave on. Events that the row does not name are those of a newer platform, and left out. Who
 * stops reading closes the connection.
 *
 * @throws EventTooLong, and what reading the connection throws
 */
export async function* readOperationEvents<O extends Operation>(
  { events = {} }: O,
  { body }: Pick<Response, "body">,
): AsyncGenerator<EventOf<O>> {
  if (body === null) return;
  for await (const { event, data, id } of readEvents(body))
    if (event === "closed" || Object.hasOwn(events, event))
      yield { event, data: JSON.parse(data) as unknown, id } as EventOf<O>;
}
