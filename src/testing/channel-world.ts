/**
 * The platform side of the channel contract: people who write, and what they see. A descriptor
 * starts one for each test.
 */
import type { Route } from "../domain/message.ts";
import type { OpenedChannel } from "./open-channel.ts";

/** A message of a person or a bot. @default a person sends a plain message to the group */
export interface SpokenMessage {
  readonly text: string;
  readonly in?: "group" | "direct" | "thread";
  /** `bot`: another bot. */
  readonly by?: "person" | "bot";
  readonly mentions?: "us" | "other";
  /** One of our messages, one of another author, or the first message of a thread. */
  readonly repliesTo?: "us" | "other";
}

export interface ShownMessage {
  readonly id: string;
  readonly text: string;
  readonly replyTo: string | null;
}

export interface ChannelWorld {
  /** The account's config. */
  readonly config: unknown;
  /** Where the account keeps files of its own. @default nowhere */
  readonly folder?: string;
  /** Must appear in no log, state or error. */
  readonly secrets: readonly string[];
  /** Messages, and the part of the inbound message that each must produce. */
  readonly classified: readonly (readonly [SpokenMessage, object])[];
  /** For channels without a connection of their own: passes the opened account. */
  connect?(channel: OpenedChannel): void;
  /** Sends a message as this author; resolves to the platform's message id. */
  say(what: SpokenMessage): Promise<string>;
  /** The route to the group. */
  route(): Route;
  /** The bot's messages in the group once there are `count` of them. */
  shown(count: number): Promise<readonly ShownMessage[]>;
  /** The platform sends one of our own messages back. */
  echo?(text: string): Promise<string>;
  edit?(id: string, text: string): Promise<void>;
  /** A person reacts to a message, or takes that back. */
  react?(id: string, emoji: string, on: boolean): Promise<void>;
  reactions?(id: string): readonly string[];
  /** How often a typing indicator was shown. */
  typings?(): number;
  /** People pinged by the bot's messages so far. */
  pings?(): number;
  limitNext?(seconds: number): void;
  /** How long a channel waits whose platform does not say it, s. */
  readonly waitSeconds?: number;
  refuseNext?(): void;
  /** The next send succeeds and its answer is lost. */
  loseAnswer?(): void;
  disconnect?(): Promise<void>;
  reconnect?(): Promise<void>;
  /** The next delivery is repeated. */
  redeliver?(): void;
  garbage?(): void;
  /** The login becomes invalid. */
  revoke?(): void;
  close(): Promise<void>;
}
