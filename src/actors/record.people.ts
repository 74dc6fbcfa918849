/**
 * Who had been let in
 * ===================
 * A recording tells of somebody whom the access book knows before the first of their messages that
 * came after it, so that a replay lets them in as they were. Whoever was taken back since is not in
 * the book any more, and is a stranger in the recording.
 */
import type { Store } from "../domain/ports.ts";
import type { ScenarioLine } from "../domain/scenario.ts";
import type { AccessEntry, Grant } from "../machines/access-entries.ts";
import type { ConversationEvent } from "../machines/events.ts";

type Known = Extract<Extract<ScenarioLine, { approve: unknown }>["approve"], { as: unknown }>;

export class RecordedPeople {
  readonly #store: Pick<Store, "access">;
  /** What has not been told yet, by person. */
  #untold: Map<string, Grant[]> | null = null;

  constructor(store: Pick<Store, "access">) {
    this.#store = store;
  }

  /** What has to be known of an event's author before it. */
  async before(event: ConversationEvent): Promise<readonly Known[]> {
    const person = authorOf(event);
    if (person === null) return [];
    this.#untold ??= await this.#read();
    const grants = this.#untold.get(person) ?? [];
    const due = grants.filter(({ at }) => at <= event.at);
    if (due.length > 0)
      this.#untold.set(
        person,
        grants.filter((one) => !due.includes(one)),
      );
    return due.map(({ channel, account, id, scope }) => ({ channel, account, id, as: scope }));
  }

  async #read(): Promise<Map<string, Grant[]>> {
    const people = new Map<string, Grant[]>();
    for (const { body } of await this.#store.access()) {
      const entry = JSON.parse(body) as AccessEntry;
      if (entry.kind !== "grant") continue;
      const name = nameOf(entry);
      people.set(name, [...(people.get(name) ?? []), entry]);
    }
    return people;
  }
}

const nameOf = ({ channel, account, id }: Pick<Grant, "channel" | "account" | "id">) =>
  JSON.stringify([channel, account, id]);

function authorOf(event: ConversationEvent): string | null {
  const said =
    event.type === "message.received"
      ? event.message
      : event.type === "message.edited"
        ? event.edit
        : null;
  if (said?.author === undefined) return null;
  const { channel, account, author } = said;
  return nameOf({ channel, account, id: author.id });
}
