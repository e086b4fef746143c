/** A JSON file of a data pool, or a part of it, in place of `data` or `params`. */
export class FileReference {
  constructor({ dataPoolId, dataSourceDescriptorId, fileId, pointer }) {
    Object.assign(this, { dataPoolId, dataSourceDescriptorId, fileId });
    if (pointer !== undefined) this.pointer = pointer;
  }

  /** The reference as on the wire. */
  toJSON() {
    return Object.fromEntries(Object.entries(this));
  }
}

/** Result of an execution that succeeded. */
export class Result {
  constructor(text, body) {
    /** The answer, digit by digit as the server sent it. */
    this.resultText = text;
    /** The parsed answer, also what this client does not know. */
    this.body = body;
  }

  /** What the service returned. */
  get output() {
    if ("result" in this.body && "createdAt" in this.body["_embedded"].status) return this.body.result;
    // `platform serve` answers with the members of the result beside these.
    return Object.fromEntries(
      Object.entries(this.body).filter(([name]) => name !== "_links" && name !== "_embedded"),
    );
  }

  /** What the platform says about it, such as `_usage`. */
  get metadata() {
    return this.body.metadata ?? this.body["_embedded"].metadata ?? null;
  }

  /** Names of the files of the result. */
  get files() {
    return Object.keys(this.body["_links"] ?? {}).filter((name) => name !== "self" && name !== "status");
  }
}

/** JSON.stringify writes null for these. */
function refuseNoNumber(name, value) {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new TypeError(`${value} is no number of JSON: ${JSON.stringify(name)} has it.`);
  return value;
}

/** The body of a start: each part by value or by reference. */
export function encodeStart(data, params, more) {
  const body = {};
  for (const [name, value] of Object.entries({ data, params })) {
    if (value instanceof FileReference) body[`${name}Ref`] = value;
    else if (value !== undefined && value !== null) body[name] = value;
  }
  return JSON.stringify({ ...body, ...more }, refuseNoNumber);
}
