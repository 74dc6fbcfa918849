/**
 * A host's inspection
 * ===================
 * Reports on the inspected conversations, and only on these. Everything becomes text here, on the
 * host's own thread, where the state is exactly that of the step; readers with the same view share
 * it. A reader first gets the live actors, then every step; a conversation that stops (passivated,
 * replaced, failed) gets a last frame.
 */
import { limits } from "../../domain/limits.ts";
import type { InspectFrame, InspectRequest } from "../../domain/ports/index.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";
import type { InspectedActor, InspectedState } from "./actor-inspector.ts";
import type { Slot } from "./conversation-cache.ts";
import { shownContext, shownError, shownEvent } from "./projected-fields.ts";

/** A conversation that may be inspected. */
export interface Inspectable extends Pick<Slot, "conv" | "key"> {
  readonly actor: Pick<Slot["actor"], "inspect">;
}

interface Watched {
  readonly look: InspectedActor;
  readonly orders: Map<number, InspectRequest>;
}

/** Takes the frames since the last call; called when a batch is done. */
export type InspectSink = (frames: readonly InspectFrame[]) => void;

export class HostInspection {
  readonly #orders = new Map<number, InspectRequest>();
  readonly #watched = new Map<number, Watched>();
  readonly #sink: InspectSink;
  #frames: InspectFrame[] = [];

  constructor(sink: InspectSink) {
    this.#sink = sink;
  }

  /** Starts a reader for its request; `live`: the current conversations. */
  begin(order: InspectRequest, live: Iterable<Inspectable>): void {
    this.stop(order.id);
    this.#orders.set(order.id, order);
    for (const slot of live) {
      if (this.#isFull(order)) break;
      this.#admit(order, slot);
    }
    this.flush();
  }

  stop(reader: number): void {
    this.#orders.delete(reader);
    for (const [conv, { look, orders }] of this.#watched)
      if (orders.delete(reader) && orders.size === 0) {
        look.end();
        this.#watched.delete(conv);
      }
  }

  /** A conversation has been loaded. */
  appeared(slot: Inspectable): void {
    for (const order of this.#orders.values()) if (!this.#isFull(order)) this.#admit(order, slot);
  }

  /** It is not live any more; with `error` if its machine failed. */
  ended(conv: number, error?: string): void {
    const watched = this.#watched.get(conv);
    if (watched === undefined) return;
    this.#watched.delete(conv);
    const { look, orders } = watched;
    look.end();
    const status = error === undefined ? "stopped" : "error";
    const type = error === undefined ? "xstate.stop" : "xstate.error.actor";
    this.#each(orders, (readers, withText) => {
      const shown = error === undefined ? {} : { error: shownError(error, withText) };
      const snapshotJson = stateJson({ ...look.now(), status }, withText, shown);
      const eventJson = JSON.stringify({ type });
      return { kind: "snapshot", readers, actor: look.actor, eventJson, snapshotJson };
    });
  }

  flush(): void {
    if (this.#frames.length === 0) return;
    const frames = this.#frames;
    this.#frames = [];
    for (let from = 0; from < frames.length; from += limits.inspectFramesMax)
      this.#sink(frames.slice(from, from + limits.inspectFramesMax));
  }

  #isFull({ id, conv }: InspectRequest): boolean {
    if (conv !== null) return false;
    let count = 0;
    for (const { orders } of this.#watched.values()) if (orders.has(id)) count += 1;
    return count >= limits.inspectActorsMax;
  }

  #admit(order: InspectRequest, { conv, key, actor }: Inspectable): void {
    if (order.conv !== null && order.conv !== conv) return;
    let watched = this.#watched.get(conv);
    if (watched === undefined) {
      watched = { look: actor.inspect(), orders: new Map() };
      this.#watched.set(conv, watched);
      this.#follow(watched);
    }
    const { look, orders } = watched;
    orders.set(order.id, order);
    const readers = [order.id];
    const snapshotJson = stateJson(look.now(), order.withText);
    this.#frames.push({ kind: "actor", readers, actor: look.actor, key, snapshotJson });
  }

  #follow({ look, orders }: Watched): void {
    const { actor } = look;
    look.follow({
      event: (event) =>
        this.#each(orders, (readers, withText) => {
          return { kind: "event", readers, actor, eventJson: eventJson(event, withText) };
        }),
      state: (at, event) =>
        this.#each(orders, (readers, withText) => {
          const snapshotJson = stateJson(at, withText);
          const caused = eventJson(event, withText);
          return { kind: "snapshot", readers, actor, eventJson: caused, snapshotJson };
        }),
    });
  }

  /** One frame for readers with text, one for readers without. */
  #each(
    orders: ReadonlyMap<number, InspectRequest>,
    make: (readers: readonly number[], withText: boolean) => InspectFrame,
  ): void {
    for (const withText of [false, true]) {
      const readers = [...orders.values()].filter((one) => one.withText === withText);
      if (readers.length > 0)
        this.#frames.push(
          make(
            readers.map(({ id }) => id),
            withText,
          ),
        );
    }
  }
}

const tooLarge = "too large to be shown";

function eventJson(event: ConversationEvent, withText: boolean): string {
  const json = JSON.stringify(shownEvent(event, withText));
  return json.length <= limits.inspectUnitsMax
    ? json
    : JSON.stringify({ type: event.type, at: event.at, earshot: tooLarge });
}

function stateJson(at: InspectedState, withText: boolean, more = {}): string {
  const { status, value, context, effects } = at;
  const shown = shownContext(context, effects, withText);
  const json = JSON.stringify({ status, value, context: shown, ...more });
  return json.length <= limits.inspectUnitsMax
    ? json
    : JSON.stringify({ status, value, context: { earshot: tooLarge }, ...more });
}
