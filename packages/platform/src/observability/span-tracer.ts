import type { Context, Span, SpanContext, Tracer as SpanMaker } from "@opentelemetry/api";
import type * as Api from "@opentelemetry/api";
import type { TraceContext } from "@platform/engine/base/trace-context";
import { NO_TRACER } from "@platform/engine/base/tracer";
import type { RunTrace, StartTrace, TracedClaim, Tracer } from "@platform/engine/base/tracer";
import { readUuidTime } from "@platform/engine/base/uuid";

type OpenTelemetry = typeof Api;

const EXECUTION = "platform.execution.id";
const VERSION = "platform.version.id";
const ATTEMPT = "platform.attempt";
const STATUS = "platform.status";
const CODE = "platform.code";
const REFUSED = "platform.refused";

/**
 * Makes the spans of executions: start (a request is accepted), and below it queue, prepare and run. They have ids, states and codes, and
 * nothing that callers or services have sent.
 */
export function createSpanTracer(api: OpenTelemetry, maker: SpanMaker): Tracer {
  const { ROOT_CONTEXT, SpanKind, trace } = api;
  const within = (given: TraceContext | null): Context =>
    given === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toSpanContext(api, given));

  function start(given: TraceContext | null, versionId: string): StartTrace {
    const options = { kind: SpanKind.SERVER, attributes: { [VERSION]: versionId } };
    const span = maker.startSpan("start", options, within(given));
    return {
      context: toTraceContext(span.spanContext()),
      end: (executionId) => {
        if (executionId === null) span.setAttribute(REFUSED, true);
        else span.setAttribute(EXECUTION, executionId);
        span.end();
      },
    };
  }

  function run(claim: TracedClaim): RunTrace {
    const { id, versionId, attempt, trace: given } = claim;
    if (given === undefined) return NO_TRACER.run(claim);
    const attributes = { [EXECUTION]: id, [VERSION]: versionId, [ATTEMPT]: attempt };
    const parent = within(given);
    const now = Date.now();
    // The clocks of two hosts may differ.
    const startTime = Math.min(now, readUuidTime(id) ?? now);
    maker.startSpan("queue", { attributes, startTime }, parent).end(now);
    const prepare = maker.startSpan("prepare", { attributes, startTime: now }, parent);
    let running: Span | null = null;
    return {
      handOver: () => {
        prepare.end();
        running = maker.startSpan("run", { attributes }, parent);
        return toTraceContext(running.spanContext());
      },
      end: (status, code) => {
        const span = running ?? prepare;
        // A span that has ended takes no more.
        span.setAttribute(STATUS, status);
        if (code !== null) span.setAttribute(CODE, code);
        if (code !== null || status === "LOST")
          span.setStatus({ code: api.SpanStatusCode.ERROR, message: code ?? status });
        span.end();
      },
    };
  }

  return { start, run };
}

/** What `readTraceContext` accepts is well formed. */
function toSpanContext({ createTraceState }: OpenTelemetry, given: TraceContext): SpanContext {
  const [, traceId = "", spanId = "", flags = ""] = given.traceparent.split("-");
  const { tracestate } = given;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
}

function toTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const flags = traceFlags.toString(16).padStart(2, "0");
  const tracestate = traceState?.serialize() ?? "";
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(tracestate === "" ? {} : { tracestate }),
  };
}
