/**
 * The journal of a runtime whose conversations are stepped elsewhere: their events are carried there, and
 * everything else is stored here.
 */
import { noConversation } from "../../domain/ports/index.ts";
import type { NewEvent } from "../protocol/event-codec.ts";
import type { Journal } from "./journal.ts";

type Forward = (events: readonly NewEvent[]) => Promise<readonly number[]>;

export function createForwardingJournal(own: Journal, forward: Forward): Journal {
  /** The events of conversations are durable before the platform's cursor goes on. */
  async function carry(
    events: readonly NewEvent[],
    store: (events: readonly NewEvent[]) => Promise<readonly number[]>,
  ): Promise<readonly number[]> {
    const isHere = ({ write }: NewEvent) => write.conv === noConversation;
    const away = events.filter((event) => !isHere(event));
    const numbersAway = away.length === 0 ? [] : await forward(away);
    const here = events.filter(isHere);
    const numbersHere = await store(here);
    const numbers = new Map<NewEvent, number>();
    away.forEach((event, place) => {
      numbers.set(event, numbersAway[place] ?? 0);
    });
    here.forEach((event, place) => {
      numbers.set(event, numbersHere[place] ?? 0);
    });
    return events.map((event) => numbers.get(event) ?? 0);
  }

  return {
    ...own,
    offer: (events, writes) =>
      carry(events, async (here) =>
        here.length + (writes?.length ?? 0) === 0 ? [] : own.offer(here, writes),
      ),
    append: (events, writes, until) =>
      carry(events, async (here) =>
        here.length + (writes?.length ?? 0) === 0 ? [] : own.append(here, writes, until),
      ),
  };
}
