import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as OTLP/HTTP has it in JSON, as far as tests look at it. */
interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number };
}

export interface OtlpCollector {
  readonly url: string;
  /** Everything that came, in the order of its arrival. */
  readonly spans: SentSpan[];
  readonly requests: {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }[];
  readonly close: () => Promise<void>;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

/** A collector of traces on this machine. @param answers null: requests are read and not answered */
export async function startOtlpCollector(answers: 200 | 400 | null = 200): Promise<OtlpCollector> {
  const spans: SentSpan[] = [];
  const requests: OtlpCollector["requests"] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString();
      requests.push({ path: request.url ?? "", headers: request.headers, text });
      for (const { scopeSpans } of (JSON.parse(text) as Sent).resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans);
      if (answers !== null) response.writeHead(answers, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
