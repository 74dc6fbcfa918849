/**
 * What was said while we were away
 * ================================
 * An archive (XEP-0313) numbers what was said in a room or to an account, and is asked for all that
 * came behind the last number we have. A room without one plays back its newest messages when it is
 * entered. Where it cannot be known that nothing is missing, that is a gap, reported once with its span.
 */
import { randomUUID } from "node:crypto";
import type { Element } from "@xmpp/client";
import { limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import type { XmppConnection } from "./client.ts";
import { XmppRefusedError } from "./errors.ts";
import { bareOf } from "./names.ts";
import { spaces } from "./spaces.ts";
import { type Archived, readArchived } from "./wire.ts";

/** Messages for one question; servers may give fewer. */
const pageMax = 100;
const pagesMax = 50;
/** Clocks of servers differ from ours. */
export const clockSlackMs = 60_000;

interface Page {
  readonly results: readonly Archived[];
  readonly isLast: boolean;
}

interface Asked {
  /** The bare address whose archive it is. */
  readonly archive: string;
  readonly results: Archived[];
}

/** Asks archives, and collects what they answer. */
export class Archives {
  readonly #open = new Map<string, Asked>();

  /** Takes a message that is a result; what nobody asked for, or another than was asked says, is dropped. */
  take(element: Element, self: string): boolean {
    const result = readArchived(element);
    if (result === null) return element.getChild("result", spaces.archive) !== undefined;
    const asked = this.#open.get(result.queryId);
    const from = result.archive === null ? self : bareOf(result.archive);
    if (asked?.archive === from && asked.results.length < pageMax * 2) asked.results.push(result);
    return true;
  }

  /**
   * Everything behind `after`, or since `since` where that is empty or no longer known.
   * @param onPage gets it in order; what it returns is waited for
   * @returns whether nothing can be missing
   */
  async readBehind(
    connection: XmppConnection,
    archive: string,
    { after, since }: { readonly after: string; readonly since: Millis },
    onPage: (results: readonly Archived[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const start = new Date(Math.max(0, since - clockSlackMs)).toISOString();
    let behind = after;
    let isWhole = true;
    for (let page = 0; page < pagesMax; page += 1) {
      const set = { start: behind === "" ? start : null, after: behind };
      let found: Page;
      try {
        found = await this.#page(connection, archive, set, signal);
      } catch (error) {
        if (!(error instanceof XmppRefusedError)) throw error;
        // It keeps messages for a time only, and ours is gone; so may others be.
        if (error.fault.condition !== "item-not-found" || behind === "") return false;
        behind = "";
        isWhole = false;
        continue;
      }
      await onPage(found.results);
      behind = found.results.at(-1)?.id ?? behind;
      if (found.isLast || found.results.length === 0) return isWhole;
    }
    return false;
  }

  /** The newest messages, oldest first. */
  async newest(
    connection: XmppConnection,
    archive: string,
    count: number,
    signal: AbortSignal,
  ): Promise<readonly Archived[]> {
    const set = { start: null, after: "", newest: Math.min(count, limits.historyCountMax) };
    return (await this.#page(connection, archive, set, signal)).results;
  }

  async #page(
    connection: XmppConnection,
    archive: string,
    set: { readonly start: string | null; readonly after: string; readonly newest?: number },
    signal: AbortSignal,
  ): Promise<Page> {
    const queryId = randomUUID();
    const asked: Asked = { archive, results: [] };
    this.#open.set(queryId, asked);
    try {
      const isOwn = archive === connection.bare;
      const query = queryOf(connection, queryId, set);
      const answer = await connection.ask("set", isOwn ? null : archive, query, signal);
      const fin = answer.getChild("fin", spaces.archive);
      return { results: asked.results, isLast: fin?.attrs.complete === "true" };
    } finally {
      this.#open.delete(queryId);
    }
  }
}

function queryOf(
  connection: XmppConnection,
  queryId: string,
  set: { readonly start: string | null; readonly after: string; readonly newest?: number },
): Element {
  const make = connection.element.bind(connection);
  const field = (name: string, value: string) =>
    make("field", { var: name }, make("value", {}, value));
  const form =
    set.start === null
      ? []
      : [
          make(
            "x",
            { xmlns: spaces.dataForm, type: "submit" },
            make("field", { var: "FORM_TYPE", type: "hidden" }, make("value", {}, spaces.archive)),
            field("start", set.start),
          ),
        ];
  const place = set.newest === undefined ? [] : [make("before")];
  const after = set.after === "" ? [] : [make("after", {}, set.after)];
  return make(
    "query",
    { xmlns: spaces.archive, queryid: queryId },
    ...form,
    make(
      "set",
      { xmlns: spaces.resultSets },
      make("max", {}, String(set.newest ?? pageMax)),
      ...after,
      ...place,
    ),
  );
}
