/**
 * From messages to delivered events: one place for what comes live, out of an archive, and as a room
 * plays it back, so that all of it has the same identity and moves the same cursor.
 */
import type { Element } from "@xmpp/client";
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { createIntake, type Intake } from "../shared/intake.ts";
import type { XmppAccountConfig } from "./config.ts";
import { bareOf } from "./names.ts";
import { type Arrival, eventOf, type Receiver } from "./normalise.ts";
import type { Progress } from "./progress.ts";
import { type Archived, readMessage, type XmppMessage } from "./wire.ts";

export class XmppIntake {
  readonly #context: ChannelContext<XmppAccountConfig>;
  readonly #progress: Progress;
  readonly #intake: Intake;
  readonly #signal: AbortSignal;
  #isFull = false;

  constructor(
    context: ChannelContext<XmppAccountConfig>,
    progress: Progress,
    onFull: (full: boolean) => void,
    signal: AbortSignal,
  ) {
    this.#context = context;
    this.#progress = progress;
    this.#signal = signal;
    this.#intake = createIntake({
      context,
      channel: "xmpp",
      cursorAt: (number) => progress.cursorAt(number),
      onFull: (full) => {
        this.#isFull = full;
        onFull(full);
      },
      signal,
    });
  }

  /** Reads a message; null, and a line in the log: it has not the form of one. */
  read(element: Element): XmppMessage | null {
    const message = readMessage(element);
    if (message === null)
      this.#context.log("warn", "xmpp.stanza-unreadable", { stanza: "message" });
    return message;
  }

  /** What came live. */
  live(message: XmppMessage, receiver: Receiver, at: Millis): void {
    const arrival: Arrival = { archiveId: null, isPast: false };
    const event = eventOf(message, receiver, arrival);
    const bare = bareOf(message.from);
    const isGroup = message.type === "groupchat";
    const archive = isGroup ? bare : receiver.self;
    const isTrue = isGroup
      ? receiver.chats.rooms.get(bare)?.hasStanzaIds === true
      : receiver.hasStanzaIds;
    const given = isTrue ? message.stanzaIds.find(({ by }) => bareOf(by) === archive) : undefined;
    this.push(event, at, given === undefined ? null : archive, given?.id);
  }

  /** What came out of an archive. */
  archived(result: Archived, receiver: Receiver): ChannelEvent | null {
    const message = this.read(result.message);
    if (message === null) return null;
    const arrival: Arrival = { archiveId: result.id, isPast: true };
    return eventOf({ ...message, delayedAt: result.at ?? message.delayedAt }, receiver, arrival);
  }

  push(event: ChannelEvent | null, at: Millis, archive: string | null = null, id = ""): void {
    const number = this.#progress.step(at, archive, id);
    if (event !== null) this.#intake.push(event, number);
  }

  /** Stores how far the account has listened, if nothing waits. */
  mark(at: Millis): void {
    this.#intake.mark(this.#progress.step(at));
  }

  /** Resolves when there is room for more. */
  async drained(): Promise<void> {
    while (this.#isFull && !this.#signal.aborted)
      await pauseFor(this.#context.clock, 200, this.#signal);
  }

  settled(): Promise<void> {
    return this.#intake.settled();
  }

  get isFull(): boolean {
    return this.#isFull;
  }
}
