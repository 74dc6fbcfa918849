/**
 * Groups and people that access policy refuses
 * ============================================
 * Denied messages, counted by what would have to be allowed. An entry ends by itself: it is listed
 * only while the config and the access list still refuse its newest message. In memory, since the
 * start; the next message after a restart lists it again.
 */
import { LRUCache } from "lru-cache";
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { Clock } from "../../domain/ports/index.ts";
import type { KnownPeople } from "../../machines/access/access-entries.ts";
import { remedyFor } from "../../machines/access/remedy.ts";

/** Strangers can make entries: the least recently heard is forgotten. */
const entriesMax = 200;

export interface Refusal {
  readonly what: "group" | "person";
  readonly message: Inbound;
  readonly count: number;
  readonly since: Millis;
  readonly at: Millis;
}

export interface Refusals {
  readonly listener: RuntimeListener;
  /** What is refused now, by its id. */
  list(): ReadonlyMap<string, Refusal>;
  /** Not listed again until the next start. */
  ignore(id: string): void;
}

export interface RefusalPorts {
  readonly clock: Pick<Clock, "now">;
  readonly config: () => EarshotConfig;
  readonly known: () => KnownPeople;
}

interface Heard extends Omit<Refusal, "what"> {
  readonly ignored: boolean;
}

export function createRefusals({ clock, config, known }: RefusalPorts): Refusals {
  const heard = new LRUCache<string, Heard>({ max: entriesMax });
  const what = (message: Inbound) => remedyFor(message, config(), { local: false, known: known() });
  return {
    listener: {
      ended(message, _, { decision }) {
        if (decision !== "denied") return;
        const wanted = what(message);
        if (wanted === null) return;
        const id = idOf(message, wanted);
        const at = clock.now();
        const before = heard.get(id) ?? { count: 0, since: at, ignored: false };
        // The text is not needed, and may be long.
        const place = { ...message, text: "" };
        heard.set(id, { ...before, message: place, count: before.count + 1, at });
      },
    },
    list() {
      const listed = new Map<string, Refusal>();
      for (const [id, { ignored, ...refusal }] of heard.entries()) {
        const wanted = what(refusal.message);
        // Admitted now, or something else is in the way, which the next message lists.
        if (wanted === null || idOf(refusal.message, wanted) !== id) heard.delete(id);
        else if (!ignored) listed.set(id, { ...refusal, what: wanted });
      }
      return listed;
    },
    ignore(id) {
      const entry = heard.get(id);
      if (entry !== undefined) heard.set(id, { ...entry, ignored: true });
    },
  };
}

function idOf({ channel, account, chat, author }: Inbound, what: Refusal["what"]): string {
  const id = what === "group" ? chat.id : author.id;
  const kind = what === "person" && chat.kind !== "direct" ? "speaker" : what;
  return [kind, channel, account, id].join(":");
}
