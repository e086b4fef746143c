/** What happened to a request: the status of its answer, and the milliseconds from its head to the end of the answer. */
export type RequestObserver = (status: number, milliseconds: number) => void;

/** Who counts the requests of a server. */
export interface HttpObserver {
  /** Asked once for each operation, when its route is made; what it returns is called for each request, and must cost nearly nothing. */
  readonly observe: (operationId: string) => RequestObserver;
}

/** The operation of requests that none is found for: unknown paths, and what the server itself answers. */
export const NO_OPERATION = "none";

/** Counts nothing. */
export const NO_HTTP_OBSERVER: HttpObserver = { observe: () => () => undefined };
