/**
 * The platform side of the channel contract: people who speak, and what they see. A descriptor
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
  /** A message of ours, of someone else, or the opener of a thread. */
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
  /** Must turn up in no log, state or error. */
  readonly secrets: readonly string[];
  /** What is said, and the part of the inbound message that must come of it. */
  readonly classified: readonly (readonly [SpokenMessage, object])[];
  /** For channels without a wire: hands over the opened account. */
  connect?(channel: OpenedChannel): void;
  /** Someone speaks; the platform's message id. */
  say(what: SpokenMessage): Promise<string>;
  /** The way to the group. */
  route(): Route;
  /** The bot's messages in the group once there are `count` of them. */
  shown(count: number): Promise<readonly ShownMessage[]>;
  /** The platform sends one of our own messages back. */
  echo?(text: string): Promise<string>;
  edit?(id: string, text: string): Promise<void>;
  reactions?(id: string): readonly string[];
  /** Times typing was shown. */
  typings?(): number;
  /** People pinged by the bot's messages so far. */
  pings?(): number;
  limitNext?(seconds: number): void;
  refuseNext?(): void;
  /** The next send is done and its answer lost. */
  loseAnswer?(): void;
  disconnect?(): Promise<void>;
  reconnect?(): Promise<void>;
  /** The next delivery comes twice. */
  redeliver?(): void;
  garbage?(): void;
  /** The login is no longer valid. */
  revoke?(): void;
  close(): Promise<void>;
}
