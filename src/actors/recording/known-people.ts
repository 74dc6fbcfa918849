/**
 * A recording states that a person is known before their first message after the approval, so that
 * a replay admits them as the original did. For a redeemed claim code it states that a claim was
 * open, because the code itself is stored nowhere. People revoked since are no longer in the access
 * store and are strangers in the recording.
 */
import type { Millis } from "../../domain/message.ts";
import type { Store } from "../../domain/ports/index.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { AccessEntry, Grant } from "../../machines/access/access-entries.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";

type Approval = Extract<ScenarioLine, { approve: unknown }>["approve"];

export class RecordedPeople {
  readonly #store: Pick<Store, "access">;
  /** Grants not yet written, by person. */
  #unwritten: Map<string, Grant[]> | null = null;

  constructor(store: Pick<Store, "access">) {
    this.#store = store;
  }

  /** The approvals that must precede an event. `claimed`: it redeemed a claim code. */
  async before(event: ConversationEvent, claimed: boolean): Promise<readonly Approval[]> {
    const person = authorOf(event);
    if (person === null) return [];
    this.#unwritten ??= await this.#read();
    if (claimed) return [this.#claim(person, event.at)];
    const grants = this.#unwritten.get(person) ?? [];
    const due = grants.filter(({ at }) => at <= event.at);
    if (due.length > 0)
      this.#unwritten.set(
        person,
        grants.filter((grant) => !due.includes(grant)),
      );
    return due.map(({ channel, account, id, scope }) => ({ channel, account, id, as: scope }));
  }

  /** The role of a redeemed claim; for a person revoked since, only that they were approved. */
  #claim(person: string, at: Millis): Approval {
    const grants = this.#unwritten?.get(person) ?? [];
    const given = grants
      .filter((grant) => grant.by.startsWith("claim ") && grant.at >= at)
      .sort((a, b) => a.at - b.at)[0];
    if (given !== undefined)
      this.#unwritten?.set(
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
  const place =
    event.type === "message.received"
      ? event.message
      : event.type === "message.edited"
        ? event.edit
        : event.type === "message.reacted"
          ? event.reaction
          : null;
  if (place?.author === undefined) return null;
  const { channel, account, author } = place;
  return nameOf({ channel, account, id: author.id });
}
