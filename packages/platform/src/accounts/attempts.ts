import { createHash, randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { nameNetwork } from "../base/client-address.ts";
import type { AttemptLimit, AttemptStore } from "../store/accounts/sign-in-attempts.ts";

/**
 * What is limited: tries to sign in, to create an account, mails to an address, the password of who is signed in. Each is counted by
 * itself: mails that anybody can have sent to an address (invitations, and verifications by who signed up with it) must not keep its owner
 * from the one that sets a password ("mail").
 */
type Kind = "sign-in" | "sign-up" | "mail" | "invitation" | "verification" | "reset" | "password";

/** Limits how often something is tried; all processes count together. */
export interface Attempts {
  /** Counts a try of a client before it is made; returns the id of the try. @throws Problem RATE_LIMITED */
  readonly takeOfClient: (kind: Kind, ip: string) => Promise<string>;
  /** Likewise for an address, whether or not a user has it. `network`: tries from there are counted by themselves. */
  readonly takeOfAccount: (kind: Kind, email: string, network?: string) => Promise<string>;
  /** Forgets the tries for an account; with a network only those from there. */
  readonly forgetAccount: (kind: Kind, email: string, network?: string) => Promise<void>;
  /** Takes back a client's try to sign in, which was no guess. */
  readonly giveBackOfClient: (ip: string, tryId: string) => Promise<void>;
}

const ACCOUNT = limit(5);
/** More than for an account: many users may share an address. */
const CLIENT = limit(20);

function limit(freeTries: number): AttemptLimit {
  return { freeTries, firstWaitSeconds: 15, longestWaitSeconds: 15 * 60 };
}

const WHAT: Readonly<Record<Kind, string>> = {
  "sign-in": "tries to sign in",
  "sign-up": "tries to sign up",
  mail: "mails to this address",
  invitation: "invitations to this address",
  verification: "mails to verify this address",
  reset: "tries to set a password",
  password: "tries to change the password",
};

/** Counts in the store. */
export function createAttempts(store: AttemptStore): Attempts {
  const take = async (kind: Kind, subject: string, allowed: AttemptLimit): Promise<string> => {
    const tryId = randomUUID();
    const seconds = await store.take(subject, tryId, allowed);
    if (seconds === 0) return tryId;
    throw new Problem("RATE_LIMITED", `Too many ${WHAT[kind]}; try again in ${seconds} seconds.`, {
      headers: { "retry-after": String(seconds) },
    });
  };
  return {
    takeOfClient: (kind, ip) => take(kind, nameClient(kind, ip), CLIENT),
    takeOfAccount: (kind, email, network) => take(kind, nameAccount(kind, email, network), ACCOUNT),
    forgetAccount: (kind, email, network) => store.forget(nameAccount(kind, email, network)),
    giveBackOfClient: (ip, tryId) => store.giveBack(nameClient("sign-in", ip), tryId),
  };
}

/** Tries to sign in have no name of their own, so that those of earlier releases count. */
function prefix(kind: Kind): string {
  return kind === "sign-in" ? "" : `${kind}:`;
}

/** Hashed, since whoever types their password in the wrong field would have it stored. */
function nameAccount(kind: Kind, email: string, network?: string): string {
  const account = `${prefix(kind)}account:${createHash("sha256").update(email).digest("base64url")}`;
  return network === undefined ? account : `${account}@${network}`;
}

function nameClient(kind: Kind, ip: string): string {
  return `${prefix(kind)}client:${nameNetwork(ip)}`;
}
