/**
 * Who had been let in
 * ===================
 * A recording tells of somebody whom the access book knows before the first of their messages that
 * came after it, so that a replay lets them in as they were. Of whoever said a claim code it tells
 * that one was open, because the code itself is written nowhere. Whoever was taken back since is not
 * in the book any more, and is a stranger in the recording.
 */
import type { Millis } from "../../domain/message.ts";
import type { Store } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { AccessEntry, Grant } from "../../machines/access/access-entries.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";

type Approval = Extract<ScenarioLine, { approve: unknown }>["approve"];

export class RecordedPeople {
  readonly #store: Pick<Store, "access">;
  /** What has not been told yet, by person. */
  #untold: Map<string, Grant[]> | null = null;

  constructor(store: Pick<Store, "access">) {
    this.#store = store;
  }

  /** What has to be known of an event's author before it. `claimed`: it was a claim, and good. */
  async before(event: ConversationEvent, claimed: boolean): Promise<readonly Approval[]> {
    const person = authorOf(event);
    if (person === null) return [];
    this.#untold ??= await this.#read();
    if (claimed) return [this.#claim(person, event.at)];
    const grants = this.#untold.get(person) ?? [];
    const due = grants.filter(({ at }) => at <= event.at);
    if (due.length > 0)
      this.#untold.set(
        person,
        grants.filter((grant) => !due.includes(grant)),
      );
    return due.map(({ channel, account, id, scope }) => ({ channel, account, id, as: scope }));
  }

  /** Which role it gave; of somebody who was taken back since, that they were let in. */
  #claim(person: string, at: Millis): Approval {
    const grants = this.#untold?.get(person) ?? [];
    const given = grants
      .filter((grant) => grant.by.startsWith("claim ") && grant.at >= at)
      .sort((a, b) => a.at - b.at)[0];
    if (given !== undefined)
      this.#untold?.set(
        person,
        grants.filter((grant) => grant !== given),
      );
    return { claim: given?.scope === "owner" ? "owner" : "member" };
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
