/**
 * A platform in the storm over all channels: rooms with a person each who mentions the bot, what the
 * bot has said there, and what can go wrong on its wire.
 */
export interface StormPlatform {
  /** The channel's id. */
  readonly id: string;
  /** How many rooms it has, numbered from 0. */
  readonly rooms: number;
  /** What stands under `channels.<id>` in the config. */
  readonly section: Readonly<Record<string, unknown>>;
  /** For platforms that post to the daemon: its address. */
  reach?(base: string): void;
  /** The person of a room says `text` and mentions the bot. */
  say(room: number, text: string): unknown;
  /** All that the bot has said, in every room. */
  answers(): readonly StormAnswer[];
  /** Breaks something; `pick` is a random number from 0 to below its argument. */
  trouble(pick: (below: number) => number): void;
  /** Nothing more goes wrong. */
  calm(): void;
  close(): Promise<void>;
}

export interface StormAnswer {
  readonly room: number;
  readonly text: string;
}

/** What every HTTP platform may do with the next request of a method that sends nothing. */
export const readFaults = [
  { kind: "refuse", status: 500 },
  { kind: "refuse", status: 429, retryAfter: 1 },
  { kind: "html", status: 502 },
  { kind: "reset" },
  { kind: "slow", ms: 300 },
] as const;

/** What it may do with the next send; `done`: the message is shown all the same. */
export const sendFaults = [
  ...readFaults,
  { kind: "reset", done: true },
  { kind: "reset", done: false },
] as const;
