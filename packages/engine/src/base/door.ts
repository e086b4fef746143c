import type { Socket } from "node:net";

/** Who answers what comes through the doors of sandboxes; called once for each door. It trusts nobody there. */
export type Doorkeeper = () => DoorAttendant;

/** Takes a connection, which is its own from then on. */
export type DoorAttendant = (connection: Socket) => DoorGuest;

/** A connection through a door. */
export interface DoorGuest {
  /** Whether nothing was asked over it that is not answered: where there is no room, it is ended for another. */
  readonly isIdle: () => boolean;
}
