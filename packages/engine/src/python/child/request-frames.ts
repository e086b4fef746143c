import { GIGABYTE } from "../../base/bytes.ts";
import { FRAME, encodeFrame, encodeHeader } from "../wire/frames.ts";
import type { RunRequest } from "../port/runtime.ts";

/** The frames that start an execution in a child: inputs are passed on as received, without a copy. */
export function encodeRequest(request: RunRequest, resultBytes: number): readonly Uint8Array[] {
  const { body, data, params } = request.input;
  const memory = Math.round(request.version.resources.memory * GIGABYTE);
  const options = Buffer.from(JSON.stringify({ executionId: request.executionId, resultBytes, memory }));
  const inputs = [
    [FRAME.body, body],
    [FRAME.data, data],
    [FRAME.params, params],
  ] as const;
  const frames = inputs.flatMap(([type, payload]) =>
    payload === undefined ? [] : [encodeHeader(type, payload.byteLength), payload],
  );
  return [encodeFrame(FRAME.request, options), ...frames, encodeFrame(FRAME.start)];
}
