/**
 * The journal of a runtime whose conversations are stepped elsewhere: their events are carried there, what all nodes
 * share is stored there, and everything else is stored here.
 */
import { noConversation, type StoreWrite } from "../../domain/ports/index.ts";
import type { Forward, NewEvent } from "../protocol/event-codec.ts";
import type { Journal } from "./journal.ts";

type Numbers = readonly number[];

export function createForwardingJournal(own: Journal, forward: Forward): Journal {
  const isShared = (write: StoreWrite) =>
    write.kind === "access" || write.kind === "cursor" ? [write] : [];

  async function carry(
    events: readonly NewEvent[],
    writes: readonly StoreWrite[],
    store: (events: readonly NewEvent[]) => Promise<Numbers>,
  ): Promise<Numbers> {
    const isHere = ({ write }: NewEvent) => write.conv === noConversation;
    const away = events.filter((event) => !isHere(event));
    const here = events.filter(isHere);
    const numbersAway = away.length === 0 ? [] : await forward.events(away);
    // After the events: a platform's cursor says that they are durable.
    const shared = [...here.flatMap(({ write }) => write.also ?? []), ...writes].flatMap(isShared);
    if (shared.length > 0) await forward.shared(shared);
    const numbersHere = here.length + writes.length === 0 ? [] : await store(here);
    const numbers = new Map<NewEvent, number>();
    for (const [group, answers] of [
      [away, numbersAway],
      [here, numbersHere],
    ] as const)
      for (const [place, event] of group.entries()) numbers.set(event, answers[place] ?? 0);
    return events.map((event) => numbers.get(event) ?? 0);
  }

  return {
    ...own,
    offer: (events, writes = []) => carry(events, writes, (here) => own.offer(here, writes)),
    append: (events, writes = [], until) =>
      carry(events, writes, (here) => own.append(here, writes, until)),
  };
}
