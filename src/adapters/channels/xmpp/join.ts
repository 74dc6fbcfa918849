/**
 * Into a room (XEP-0045, section 7.2)
 * ===================================
 * Asks what the room can do, enters with the nick or, if that is taken, with another one, and waits
 * until the room has reported everything: who is there, what was said before, its subject.
 */

import type { Clock } from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import type { XmppRoom } from "./chats.ts";
import { askMsMax, type XmppConnection } from "./client.ts";
import type { XmppRoomConfig } from "./config.ts";
import { XmppLostError, XmppRefusedError } from "./errors.ts";
import { spaces } from "./spaces.ts";
import type { StanzaFault, XmppPresence } from "./wire.ts";

const nickTriesMax = 6;
/** After the own presence, rooms send history and subject at once. */
const subjectMsMax = 5_000;

/** What a room answers to being entered. */
export type Entered = { readonly presence: XmppPresence } | { readonly fault: StanzaFault };

/** Waits of one attempt. */
export interface Joining {
  answered(answer: Entered): void;
  onSubject(): void;
}

export interface JoinOptions {
  readonly connection: XmppConnection;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Messages that the room shall play back. */
  readonly historyCount: number;
  /** Announces what is waited for. */
  expect(joining: Joining | null): void;
}

/** Asks what a room can do; one that does not exist, or does not say, can do nothing. */
export async function lookAt(
  connection: XmppConnection,
  room: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  try {
    return await connection.featuresOf(room, signal);
  } catch (error) {
    if (error instanceof XmppRefusedError) return new Set();
    throw error;
  }
}

/** Enters; resolves to why not, or null. */
export async function join(
  room: XmppRoom,
  config: XmppRoomConfig,
  nick: string,
  options: JoinOptions,
): Promise<StanzaFault | null> {
  const { connection, clock, signal, expect } = options;
  for (let tries = 0; ; tries += 1) {
    room.ownNick = tries === 0 ? nick : `${nick}${"_".repeat(tries)}`;
    let onSubject: () => void = () => undefined;
    const subject = new Promise<void>((resolve) => {
      onSubject = resolve;
    });
    const answer = new Promise<Entered>((answered) => expect({ answered, onSubject }));
    connection.send(presenceInto(connection, room, config, options.historyCount));
    try {
      const entered = await within(clock, askMsMax, Promise.race([answer, ended(connection)]));
      if (entered === late) return { type: "wait", condition: "no-answer", text: "" };
      if ("fault" in entered) {
        if (entered.fault.condition !== "conflict" || tries >= nickTriesMax) return entered.fault;
        continue;
      }
      room.isJoined = true;
      room.ownOccupantId = room.hasOccupantIds ? entered.presence.occupantId : null;
      if (entered.presence.codes.includes("201")) await openRoom(connection, room, signal);
      await within(clock, subjectMsMax, Promise.race([subject, ended(connection)]));
      return null;
    } finally {
      expect(null);
    }
  }
}

/** Rejects when the connection ends. */
async function ended(connection: XmppConnection): Promise<never> {
  throw new XmppLostError((await connection.closed).message);
}

function presenceInto(
  connection: XmppConnection,
  { jid, ownNick }: XmppRoom,
  { password }: XmppRoomConfig,
  historyCount: number,
) {
  const history = connection.element("history", { maxstanzas: String(historyCount) });
  return connection.element(
    "presence",
    { to: `${jid}/${ownNick}` },
    connection.element(
      "x",
      { xmlns: spaces.muc },
      ...(password === undefined ? [] : [connection.element("password", {}, password)]),
      history,
    ),
  );
}

/** A room that we have made is locked until it is configured (section 10.1.2). */
async function openRoom(
  connection: XmppConnection,
  room: XmppRoom,
  signal: AbortSignal,
): Promise<void> {
  const form = connection.element("x", { xmlns: spaces.dataForm, type: "submit" });
  const query = connection.element("query", { xmlns: spaces.mucOwner }, form);
  try {
    await connection.ask("set", room.jid, query, signal);
  } catch (error) {
    if (!(error instanceof XmppRefusedError)) throw error;
  }
  room.features = await lookAt(connection, room.jid, signal);
}
