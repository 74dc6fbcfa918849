/** What somebody outside a room wants said there, and what the runtime answers. */
import type { ChatKind, Route } from "../../domain/message.ts";

/** Where to say it. The kind of chat may be unknown to the caller. */
export interface SpeechPlace extends Omit<Route, "chat"> {
  readonly chat: { readonly id: string; readonly kind?: ChatKind };
}

/** The journal's name of an order; no platform's message id has this form. */
export const orderName = (id: string): string => `send:${id}`;

export interface Speech {
  /** Of the caller: the same order under the same id is taken once. @default a new one */
  readonly id?: string;
  readonly place: SpeechPlace;
  /** @default the agent that hears the chat */
  readonly agentId?: string;
  readonly text: string;
  /** The text is a prompt, which the agent answers in the chat; else it is sent as it is. */
  readonly turn: boolean;
  /** Platform id of the message that the text replies to. */
  readonly replyTo: string | null;
  /** Who wants it, for the agent. */
  readonly by: string;
  /** Its conversation, where that is known. @default that of the chat */
  readonly key?: string;
  /** An action on a room: its conversation says it, and the journal has who did it. */
  readonly room?: { readonly key: string; readonly by: string };
}

export interface SpeechTaken {
  readonly id: string;
  readonly key: string;
  readonly route: Route;
  /** Outbox ids of its parts; of a turn, none yet. */
  readonly parts: readonly string[];
  readonly turn: boolean;
}

export interface SpeakerChecks {
  /**
   * Checks an order that is said later.
   * @param what begins the error's message
   * @throws EarshotError EAR_USAGE if the account or the agent is not in the config.
   */
  check(
    place: Pick<SpeechPlace, "channel" | "account">,
    agentId: string | undefined,
    what: string,
  ): void;
}
