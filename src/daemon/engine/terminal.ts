/**
 * What other nodes have said to a console of this one
 * ===================================================
 * An answer is sent by the node on which its conversation is active, and a person may sit at the terminal of another.
 * The copy has what was sent, also where the report of it was lost or its sender has died: consoles are shown what is
 * new in it, in journal order. It is only read while there is a console. What was sent here is shown at once, and
 * recognised.
 */
import { deliveryOf, isText } from "../../actors/outbox/row-body.ts";
import { conversationOf, decodeEvent } from "../../actors/protocol/event-codec.ts";
import type { RuntimeEvents } from "../../actors/protocol/runtime-events.ts";
import {
  type Terminal,
  terminalAuthor,
  terminalChat,
} from "../../adapters/channels/terminal/channel.ts";
import { accountsOf, type EarshotConfig } from "../../domain/config/index.ts";
import { inboundSchema, type Millis } from "../../domain/message.ts";
import type { Clock, EventRow, Log, Store } from "../../domain/ports/index.ts";
import { resolveRoute } from "../../machines/routing/routing.ts";

export interface SharedTerminalPorts {
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly config: () => EarshotConfig;
  /** The copy of the conversations of all nodes; null: this node keeps none. */
  readonly mirror: Pick<Store, "tail" | "lastSeqOf" | "numberBefore" | "outboxRow"> | null;
  /** Of what is shown. */
  readonly events: Pick<RuntimeEvents, "add">;
  readonly terminal: Pick<Terminal, "share" | "show" | "watched">;
  /** Why conversations cannot be read here; null: they can. */
  readonly noCopy: () => string | null;
}

/** Journal rows that are read at most, and those of them that are read again: numbers of nodes follow their clocks. */
const rowsBackMax = 20_000;
const rowsAgain = 256;
/** Of a conversation that was not in the copy at the start, what was sent so long before that is new, ms. */
const newMsMax: Millis = 60_000;

/** Shows the consoles of this node what was sent to them on any; without a copy they refuse what is said. */
export function shareTerminal(ports: SharedTerminalPorts): void {
  const { clock, log, config, mirror, events, terminal, noCopy } = ports;
  if (mirror === null) {
    terminal.share({ problem: noCopy, isWhole: false, attached: () => undefined });
    return;
  }
  const copy = mirror;
  const startedAt = clock.now();
  /** Up to which number each conversation was there at the start, and was read. */
  const first = new Map<number, number>();
  const places = new Map<number, number>();
  let work: Promise<void> = Promise.resolve();
  const then = (next: () => Promise<void>) => {
    work = work
      .then(next)
      .catch((error: unknown) => log("error", "terminal.read-failed", { error: String(error) }));
  };

  async function newIn(conv: number): Promise<readonly EventRow[]> {
    const start = first.get(conv) ?? 0;
    const limit = await copy.lastSeqOf(conv);
    const again = await copy.numberBefore(limit, rowsAgain);
    const most = await copy.numberBefore(limit, rowsBackMax);
    const from = Math.max(start, most, Math.min(places.get(conv) ?? start, again));
    places.set(conv, limit);
    return copy.tail(conv, from, limit + 1);
  }

  async function show(account: string, row: EventRow): Promise<void> {
    const event = decodeEvent(row);
    if (event.type !== "delivery.sent") return;
    if ((first.get(row.conv) ?? 0) === 0 && event.at < startedAt - newMsMax) return;
    const sent = await copy.outboxRow(`${event.turnId}:${event.index}`);
    const delivery = sent === null ? null : deliveryOf(sent);
    if (sent === null || delivery === null || !isText(delivery)) return;
    const { route, text, edits = null } = delivery.body;
    if (route.channel === channel && route.account === account)
      terminal.show(account, { id: sent.id, text, edits });
  }

  async function read(account: string): Promise<void> {
    for (const conv of conversationsOf(config(), account))
      for (const row of await newIn(conv)) await show(account, row);
  }

  then(async () => {
    for (const [account] of accountsOf(config().channels[channel] ?? { enabled: false }))
      for (const conv of conversationsOf(config(), account))
        first.set(conv, await copy.lastSeqOf(conv));
  });
  terminal.share({
    problem: () => null,
    isWhole: true,
    attached: (account) => then(() => read(account)),
  });
  events.add({
    changed(conv) {
      for (const account of terminal.watched())
        if (conversationsOf(config(), account).includes(conv)) then(() => read(account));
    },
  });
}

const channel = "terminal";

const known = new WeakMap<EarshotConfig, Map<string, readonly number[]>>();

/** Conversations in which an account's answers are, computed once for each config. */
function conversationsOf(config: EarshotConfig, account: string): readonly number[] {
  const all = known.get(config) ?? new Map<string, readonly number[]>();
  known.set(config, all);
  let convs = all.get(account);
  if (convs === undefined) {
    const author = { id: terminalAuthor };
    const said = inboundSchema.parse({ channel, account, chat: terminalChat, id: "any", author });
    convs = resolveRoute(config, said).map(({ sessionKey }) => conversationOf(sessionKey).conv);
    all.set(account, convs);
  }
  return convs;
}
