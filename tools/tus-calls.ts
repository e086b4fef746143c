import { request } from "node:http";
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Upload } from "tus-js-client";

/** The media type of a part. */
export const PART_TYPE = "application/offset+octet-stream";

/** What identifies the caller. */
export type TusHeaders = Readonly<Record<string, string>>;

/** An answer, as far as tests read it. */
export interface TusAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A part that is being sent. */
export interface OpenPart {
  readonly write: (chunk: string | Buffer) => void;
  readonly end: () => void;
  /** Breaks the connection. */
  readonly destroy: () => void;
  /** Rejects where the connection breaks before. */
  readonly answer: Promise<TusAnswer>;
}

/** The header Upload-Metadata. */
export function toMetadata(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
    .join(",");
}

/** One request of tus, whose body is `content`. */
export async function sendTus(
  method: string,
  url: string,
  { headers = {}, content }: { readonly headers?: TusHeaders; readonly content?: string | Buffer } = {},
): Promise<TusAnswer> {
  const sent = open(method, url, headers);
  sent.end(content);
  return await answerOf(sent);
}

/** A PATCH whose body is sent bit by bit. Without Content-Length, as the client of tus for Node.js sends it. @param agent default: a connection of its own, which ends with the answer */
export function openPart(url: string, headers: TusHeaders, agent: Agent | false = false): OpenPart {
  const sent = open("PATCH", url, { "content-type": PART_TYPE, ...headers }, agent);
  const answer = answerOf(sent);
  answer.catch(() => undefined);
  sent.flushHeaders();
  return {
    write: (chunk) => void sent.write(chunk),
    end: () => void sent.end(),
    destroy: () => void sent.destroy(),
    answer,
  };
}

function open(method: string, url: string, headers: TusHeaders, agent: Agent | false = false): ClientRequest {
  return request(url, { method, headers: { "tus-resumable": "1.0.0", ...headers }, agent });
}

async function answerOf(sent: ClientRequest): Promise<TusAnswer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve).on("error", reject);
  });
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

type UploadOptions = ConstructorParameters<typeof Upload>[1];

/** An upload by tus-js-client: resolves with the id of the file that it has become. */
export function uploadByClient(
  content: ConstructorParameters<typeof Upload>[0],
  options: UploadOptions,
  use: (upload: Upload) => void = () => undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(content, {
      onError: reject,
      onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader("Upload-File-Id") ?? ""),
      ...options,
    });
    use(upload);
    upload.start();
  });
}
