import type { FastifyInstance, FastifyRequest } from "fastify";
import { NO_OPERATION } from "./request-observer.ts";
import type { HttpObserver, RequestObserver } from "./request-observer.ts";

/** Names a request in an answer, as in the log. */
export const REQUEST_ID_HEADER = "x-request-id";

const OBSERVER = "httpObserver";
const OBSERVE = "observeRequest";

/**
 * Gives every answer the id of its request, and tells the observer of every answer that has been sent. A route says by
 * `observeAs` which operation it is; Fastify takes both times anyway. An answer whose caller is gone is not counted.
 */
export function observeRequests(app: FastifyInstance, observer: HttpObserver): void {
  const observeOthers = observer.observe(NO_OPERATION);
  app.decorate(OBSERVER, observer);
  app.decorateRequest(OBSERVE, null);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const observe = request.getDecorator<RequestObserver | null>(OBSERVE) ?? observeOthers;
    observe(reply.statusCode, reply.elapsedTime);
    done();
  });
}

/** For the requests of one operation: to be called for each, before anything can refuse it. */
export function observeAs(app: FastifyInstance, operationId: string): (request: FastifyRequest) => void {
  const observe = app.getDecorator<HttpObserver>(OBSERVER).observe(operationId);
  return (request) => request.setDecorator(OBSERVE, observe);
}
