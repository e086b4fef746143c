import type { Readable } from "node:stream";

/** Content that is named by its hash. */
export interface StoredObject {
  /** SHA-256 of the content in hex: its name. */
  readonly hash: string;
  /** Size. */
  readonly bytes: number;
}

/** Content in a file of this machine. */
export interface ReceivedFile extends StoredObject {
  readonly path: string;
}

/** Content that was received but is not an object yet: its receiver checks it, then keeps or drops it. */
export interface ReceivedObject extends ReceivedFile {
  /**
   * Makes it an object, durable when it resolves. The row that names it is written afterwards, within a day.
   *
   * @throws StoreFull, StoreUnavailable
   */
  readonly keep: () => Promise<void>;
  /** Removes the temporary file; an object that was kept stays. */
  readonly drop: () => Promise<void>;
}

/** A part of an object, in bytes. */
export interface ByteRange {
  readonly start: number;
  /** The first byte that is not part of it. */
  readonly end: number;
}

/** An object as a store lists it. */
export interface ListedObject extends StoredObject {
  /** When it was kept, in milliseconds since the epoch; later where it was kept again. */
  readonly keptAt: number;
}

/**
 * Objects named by their content: equal content is stored once, and an object never changes. Nothing is held in memory as a whole, and
 * no object is seen before all of it is there. Hashes are SHA-256 in hex; anything else names no object.
 */
export interface Objects {
  /**
   * Receives content of at most `limit` bytes into a file of this machine.
   *
   * @throws ObjectTooLarge; then nothing is stored, and `content` stays open. StoreFull
   */
  readonly receive: (content: Readable, limit: number) => Promise<ReceivedObject>;
  /**
   * Takes a file of this machine as received: nobody writes to it any more, and its content is known and lasts. `keep` may move it away;
   * it needs the file only where there is no such object yet.
   */
  readonly take: (file: ReceivedFile) => ReceivedObject;
  /**
   * The content, or a part of it that is within. Content that is damaged may be given as it is.
   *
   * @throws ObjectMissing, StoreUnavailable; the stream may fail with the latter, too
   */
  readonly read: (hash: string, range?: ByteRange) => Promise<Readable>;
  /**
   * Makes the content a file of this machine that is only read; nothing is at `path` before. It stays when the object is removed.
   *
   * @throws ObjectMissing, ObjectDamaged, StoreFull, StoreUnavailable
   */
  readonly fetchTo: (hash: string, path: string) => Promise<void>;
}

/** What stores objects. It keeps and removes what it is told to: the rows of the database say what that is (`kept-objects.ts`, `sweep.ts`). */
export interface ObjectStore extends Objects {
  /** @throws StoreUnavailable */
  readonly has: (hash: string) => Promise<boolean>;
  /**
   * Removes an object, or does nothing; ends within ten minutes. Tells the store once: of two tries the first may be carried out after the
   * second was answered, when equal content is stored again.
   *
   * @throws StoreUnavailable; the store may still do it
   */
  readonly remove: (hash: string) => Promise<void>;
  /** All objects that are there all the time, in no order. @throws StoreUnavailable */
  readonly list: () => AsyncIterable<ListedObject>;
  /**
   * Removes what content left in the store that began to be stored before a time, and never became an object: its process was killed.
   * Returns how many. Files of `receive` are not among it.
   *
   * @throws StoreUnavailable
   */
  readonly removeUnfinished: (before: Date) => Promise<number>;
}

/** The content exceeds the limit of `receive`. */
export class ObjectTooLarge extends Error {
  constructor(limit: number) {
    super(`The content is larger than ${limit} bytes.`);
    this.name = "ObjectTooLarge";
  }
}

/** There is no such object. */
export class ObjectMissing extends Error {
  constructor(hash: string) {
    super(`There is no object ${JSON.stringify(hash)}.`);
    this.name = "ObjectMissing";
  }
}

/** The content of an object is not that of its name: it was changed where it is stored. */
export class ObjectDamaged extends Error {
  constructor(hash: string) {
    super(`The content of the object ${hash} was changed. Restore it from a backup.`);
    this.name = "ObjectDamaged";
  }
}

/** There is no room for the content; there may be later. */
export class StoreFull extends Error {
  constructor(options: ErrorOptions) {
    super("There is no room for the content.", options);
    this.name = "StoreFull";
  }
}

/** The store cannot be asked at present, or an object is just being removed; the same may succeed later. */
export class StoreUnavailable extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "StoreUnavailable";
  }
}

const HASH = /^[0-9a-f]{64}$/u;

/** Whether the text can name an object: it is also used as a file name. */
export function isObjectHash(text: string): boolean {
  return HASH.test(text);
}
