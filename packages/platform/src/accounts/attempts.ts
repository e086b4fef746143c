import { createHash, randomUUID } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { nameNetwork } from "../base/client-address.ts";
import { BOUNDS } from "../store/base/bounds.ts";
import type { AttemptLimit, AttemptStore } from "../store/accounts/sign-in-attempts.ts";
import type { RateBucketStore } from "../store/rate-buckets.ts";

/**
 * What is limited: tries to sign in, to create an account, mails to an address, the password of who is signed in. Each is counted by
 * itself: mails that anybody can have sent to an address (invitations, and verifications by who signed up with it) must not keep its owner
 * from the one that sets a password ("mail").
 */
type Kind = "sign-in" | "sign-up" | "mail" | "invitation" | "inviter" | "verification" | "reset" | "password";
/** What is counted by client, behind which may be many people. */
type ClientKind = Extract<Kind, "sign-in" | "sign-up" | "reset">;

/** Limits how often something is tried; all processes count together. */
export interface Attempts {
  /** Counts a try of a client before it is made. @throws Problem RATE_LIMITED */
  readonly takeOfClient: (kind: ClientKind, ip: string) => Promise<void>;
  /** Likewise for an address, whether or not a user has it. */
  readonly takeOfAccount: (kind: Kind, email: string) => Promise<void>;
  /** Forgets the tries for an account, from wherever they came. */
  readonly forgetAccount: (kind: Kind, email: string) => Promise<void>;
  /** Counts a password before it is checked. @throws Problem RATE_LIMITED */
  readonly takeGuess: (guess: Guess) => Promise<TakenGuess>;
  /**
   * Counts an invitation by mail: by the user who invites, as anybody has as many organisations as they like, to that address and to any.
   *
   * @throws Problem RATE_LIMITED
   */
  readonly takeInvitation: (email: string, invitedBy: string) => Promise<void>;
}

/** A password that somebody tries. */
interface Guess {
  /** As it is stored. */
  readonly email: string;
  /** Address of the client. */
  readonly ip: string;
  /** Whether the user has signed in from that network before. */
  readonly isKnown: boolean;
}

/** A guess that was counted. */
interface TakenGuess {
  /** The password was right: it was no guess. */
  readonly wasRight: () => Promise<void>;
}

const WAITS = { firstWaitSeconds: 15, longestWaitSeconds: 15 * 60 };
/** For an address; for one that a network, or who invites, is concerned with. */
const FEW: AttemptLimit = { freeTries: 5, ...WAITS };
/** For an address, from all networks that are new to its user: no twenty of them together hold up the user's own. */
const ANYWHERE: AttemptLimit = { freeTries: 100, ...WAITS };

/** What a client may do at once, and in the long run. Right passwords, and those that are refused unseen, do not count. */
const CLIENT_RATES: Readonly<Record<ClientKind, { readonly burst: number; readonly perSecond: number }>> = {
  "sign-in": { burst: 100, perSecond: 1 / 60 },
  "sign-up": { burst: 20, perSecond: 1 / (15 * 60) },
  reset: { burst: 20, perSecond: 1 / (15 * 60) },
};
/** Of mails to one address by users who have sent it one within the day; one user sends a fifth of it in the long run. */
const INVITED_RATE = { burst: 20, perSecond: 1 / (3 * 60) };
/** Of mails by one user to whomever: at once, as many invitations as an organisation has open. */
const INVITER_RATE = { burst: BOUNDS.invitations.limit, perSecond: 1 / (3 * 60) };

const WHAT: Readonly<Record<Kind, string>> = {
  "sign-in": "tries to sign in",
  "sign-up": "tries to sign up",
  mail: "mails to this address",
  invitation: "invitations to this address",
  inviter: "invitations by mail of this user",
  verification: "mails to verify this address",
  reset: "tries to set a password",
  password: "tries to change the password",
};

/** Counts in the stores. */
export function createAttempts(store: AttemptStore, buckets: RateBucketStore): Attempts {
  const take = async (kind: Kind, subject: string, allowed: AttemptLimit) => {
    const tryId = randomUUID();
    const { waitSeconds, tries } = await store.take(subject, tryId, allowed);
    if (waitSeconds > 0) throw refuse(kind, waitSeconds);
    return { tries, giveBack: () => store.giveBack(subject, tryId) };
  };
  const draw = async (kind: Kind, name: string, rate: { burst: number; perSecond: number }) => {
    const allowance = { ...rate, subject: `${kind}:${name}` };
    const { granted, level } = await buckets.withdraw(allowance, { owed: 0, wanted: 1 });
    if (granted === 0) throw refuse(kind, Math.max(1, Math.ceil((1 - level) / rate.perSecond)));
    return { giveBack: () => buckets.withdraw(allowance, { owed: -1, wanted: 0 }) };
  };
  const drawOfClient = (kind: ClientKind, ip: string) => draw(kind, nameNetwork(ip), CLIENT_RATES[kind]);
  return {
    takeOfClient: async (kind, ip) => void (await drawOfClient(kind, ip)),
    takeOfAccount: async (kind, email) => void (await take(kind, nameAccount(kind, email), FEW)),
    forgetAccount: (kind, email) => store.forget(nameAccount(kind, email)),
    takeGuess: async ({ email, ip, isKnown }) => {
      const account = nameAccount("sign-in", email);
      const here = `${account}@${nameNetwork(ip)}`;
      const taken: Returned[] = [];
      try {
        // In this order: a client that is refused must leave no trace with the account.
        if (!isKnown) taken.push(await drawOfClient("sign-in", ip));
        taken.push(await take("sign-in", here, FEW));
        if (!isKnown) taken.push(await take("sign-in", account, ANYWHERE));
      } catch (error) {
        await giveBackAll(taken);
        throw error;
      }
      return {
        wasRight: async () => {
          await giveBackAll(taken);
          await store.forget(here);
        },
      };
    },
    takeInvitation: async (email, invitedBy) => {
      const account = nameAccount("invitation", email);
      const taken: Returned[] = [];
      try {
        taken.push(await draw("inviter", invitedBy, INVITER_RATE));
        const ofBoth = await take("invitation", `${account}@${invitedBy}`, FEW);
        taken.push(ofBoth);
        // The first one of a user waits for no other user.
        if (ofBoth.tries > 1) await draw("invitation", account, INVITED_RATE);
      } catch (error) {
        await giveBackAll(taken);
        throw error;
      }
    },
  };
}

interface Returned {
  readonly giveBack: () => Promise<unknown>;
}

async function giveBackAll(taken: readonly Returned[]): Promise<void> {
  await Promise.all(taken.map(({ giveBack }) => giveBack()));
}

function refuse(kind: Kind, seconds: number): Problem {
  return new Problem("RATE_LIMITED", `Too many ${WHAT[kind]}; try again in ${seconds} seconds.`, {
    headers: { "retry-after": String(seconds) },
  });
}

/**
 * Hashed, since whoever types their password in the wrong field would have it stored. Tries to sign in have no name of their own, so that
 * those of earlier releases count.
 */
function nameAccount(kind: Kind, email: string): string {
  const prefix = kind === "sign-in" ? "" : `${kind}:`;
  return `${prefix}account:${createHash("sha256").update(email).digest("base64url")}`;
}
