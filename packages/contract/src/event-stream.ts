/** One server-sent event. */
export interface ServerEvent {
  /** Its type. */
  readonly event: string;
  /** JSON text, in the events of a platform. */
  readonly data: string;
  /** The last id that the stream has given so far: what to send as Last-Event-ID; null: none. */
  readonly id: string | null;
}

/** Text of one event, in characters: a server that sends more without its end is not believed. */
const MAX_EVENT_CHARACTERS = 32 * 1024 * 1024;

/** The stream has a longer event than any platform sends. */
export class EventTooLong extends Error {
  constructor() {
    super(`An event of the stream is longer than ${MAX_EVENT_CHARACTERS} characters.`);
    this.name = "EventTooLong";
  }
}

interface Pending {
  event: string;
  id: string | null;
  data: string[];
  length: number;
}

/**
 * Reads a stream of server-sent events as the standard says (https://html.spec.whatwg.org/multipage/server-sent-events.html). An event that
 * is cut off by the end of the stream is left out. Who stops reading cancels the stream.
 *
 * @throws EventTooLong, and what reading the stream throws
 */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const pending: Pending = { event: "", id: null, data: [], length: 0 };
  for await (const line of readLines(stream)) {
    if (line !== "") {
      readField(pending, line);
      continue;
    }
    const { event, id, data } = pending;
    pending.event = "";
    pending.data = [];
    pending.length = 0;
    if (data.length > 0) yield { event: event === "" ? "message" : event, data: data.join("\n"), id };
  }
}

function readField(pending: Pending, line: string): void {
  const colon = line.indexOf(":");
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "event") pending.event = value;
  if (name === "id" && !value.includes("\0")) pending.id = value;
  if (name !== "data") return;
  pending.length += value.length;
  if (pending.length > MAX_EVENT_CHARACTERS) throw new EventTooLong();
  pending.data.push(value);
}

/** Lines end with CR, LF or both. */
async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  let isAfterReturn = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      let text = decoder.decode(value, { stream: true });
      if (isAfterReturn && text.startsWith("\n")) text = text.slice(1);
      if (text !== "") isAfterReturn = text.endsWith("\r");
      const lines = text.split(/\r\n|\n|\r/);
      for (const line of lines.slice(0, -1)) {
        yield parts.join("") + line;
        parts = [];
        length = 0;
      }
      const rest = lines.at(-1) ?? "";
      length += rest.length;
      if (length > MAX_EVENT_CHARACTERS) throw new EventTooLong();
      if (rest !== "") parts.push(rest);
    }
  } finally {
    // Closes the connection where the reader has not come to the end.
    await reader.cancel().catch(() => undefined);
  }
}
