/**
 * What was said while we were away
 * ================================
 * Three kinds of servers: some play a room's newest lines back when it is joined (a batch
 * `chathistory`), some can be asked for them (https://ircv3.net/specs/extensions/chathistory), most
 * have nothing. What came back is delivered in its place before anything newer. Where it cannot be
 * known that nothing is missing, that is a gap, reported once with its span.
 */
import { limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import type { IrcConnection } from "./client.ts";
import { type IrcLine, sentAtOf } from "./wire.ts";

/** Messages for one question; servers may give fewer (ISUPPORT CHATHISTORY). */
const pageMax = 100;
const pagesMax = 20;
const pageMsMax = 10_000;
/** Servers keep whole seconds of what they play back. */
export const replaySlackMs = 1_000;

/** Batches of lines that were said earlier. */
const replays: ReadonlySet<string> = new Set(["chathistory", "znc.in/playback"]);

export interface Replay {
  readonly room: string;
  readonly lines: readonly IrcLine[];
}

/** Collects the lines of replays. */
export class Replays {
  readonly #open = new Map<string, { readonly room: string; readonly lines: IrcLine[] }>();

  clear(): void {
    this.#open.clear();
  }

  /**
   * Takes a line that belongs to a replay.
   * @returns false: it does not; a replay: it was the last line of that one
   */
  take(line: IrcLine): boolean | Replay {
    const { command, params, tags } = line;
    if (command === "BATCH") return this.#batch(params);
    const open = tags.batch === undefined ? undefined : this.#open.get(tags.batch);
    if (open === undefined) return false;
    if (open.lines.length < limits.historyCountMax * 10) open.lines.push(line);
    return true;
  }

  #batch([reference = "", type = "", room = ""]: readonly string[]): boolean | Replay {
    const id = reference.slice(1);
    if (reference.startsWith("+")) {
      if (!replays.has(type) || this.#open.size >= 64) return false;
      this.#open.set(id, { room, lines: [] });
      return true;
    }
    const done = this.#open.get(id);
    this.#open.delete(id);
    return done ?? false;
  }
}

/** Whether a server can be asked. */
export const canAsk = (connection: IrcConnection): boolean =>
  connection.has("chathistory") || connection.has("draft/chathistory");

/**
 * Asks for what was said in a room after `since`. Its replays arrive as lines; `arrived` returns those
 * of this room so far. Resolves to whether nothing can be missing.
 */
export async function askHistory(
  connection: IrcConnection,
  room: string,
  since: Millis,
  {
    clock,
    signal,
    arrived,
  }: {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly arrived: () => readonly Replay[];
  },
): Promise<boolean> {
  const most = Number(connection.supports.get("CHATHISTORY") ?? 0) || pageMax;
  const limit = Math.min(most, pageMax);
  let from = since - replaySlackMs;
  for (let page = 0; page < pagesMax; page += 1) {
    const before = arrived().length;
    const time = new Date(from).toISOString();
    const answer = await connection.ask(
      [`CHATHISTORY AFTER ${room} timestamp=${time} ${limit}`],
      signal,
    );
    const failed = answer.some(
      ({ command, params }) => command === "FAIL" && params[0] === "CHATHISTORY",
    );
    if (failed || answer.some(({ command }) => command === "421")) return false;
    // Some servers look it up while they answer other lines.
    for (let waited = 0; arrived().length === before; waited += 100) {
      if (waited >= pageMsMax || signal.aborted || !connection.isOpen) return false;
      await pauseFor(clock, 100, signal);
    }
    const lines = arrived().at(-1)?.lines ?? [];
    const last = sentAtOf(lines.at(-1)?.tags ?? {});
    if (lines.length < limit || last === null || last <= from) return true;
    from = last;
  }
  return false;
}
