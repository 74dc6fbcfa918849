/**
 * What people and the account have said at the Signal of the tests: groups, messages, reactions, and the
 * commands of signal-cli(1) on them, checked as it checks them.
 */
import { randomBytes } from "node:crypto";

export type Params = Readonly<Record<string, unknown>>;

/** An error of JSON-RPC. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown = null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface Person {
  readonly number: string | null;
  readonly uuid: string;
  readonly name: string;
}

export interface Group {
  readonly id: string;
  name: string;
  readonly members: Person[];
}

/** A message of the account. */
export interface SentMessage {
  readonly timestamp: number;
  readonly target: string;
  message: string;
  textStyles: readonly string[];
  readonly attachments: readonly string[];
  readonly mentions: readonly unknown[];
  readonly quote: { readonly author: string; readonly timestamp: number; text: string } | null;
  /** Times of its edits. */
  readonly edits: number[];
}

const styles = new Set(["BOLD", "ITALIC", "SPOILER", "STRIKETHROUGH", "MONOSPACE"]);
const listOf = (value: unknown): unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

let people = 0;

export class SignalRooms {
  readonly account = "+4930555000111";
  readonly aci = "aaaaaaaa-0000-4000-8000-000000000001";
  readonly groups: Group[] = [];
  readonly sent: SentMessage[] = [];
  /** Message to the emoji that the account has put on it. */
  readonly reactions = new Map<string, string>();
  readonly typings: Params[] = [];
  readonly files = new Map<string, Buffer>();
  /** People that nothing can be sent to, and why. */
  readonly failures = new Map<string, string>();
  readonly #emit: (envelope: object) => void;
  #last = 0;

  constructor(emit: (envelope: object) => void) {
    this.#emit = emit;
  }

  person(name: string, hasNumber = true): Person {
    people += 1;
    const tail = String(people).padStart(12, "0");
    const number = hasNumber ? `+4930${String(1_000_000 + people)}` : null;
    return { number, uuid: `bbbbbbbb-0000-4000-8000-${tail}`, name };
  }

  group(name: string, members: readonly Person[]): Group {
    const group = { id: randomBytes(32).toString("base64"), name, members: [...members] };
    this.groups.push(group);
    return group;
  }

  /** A time that no message has yet. */
  now(): number {
    this.#last = Math.max(Date.now(), this.#last + 1);
    return this.#last;
  }

  /** The part of an envelope that says who it is from. */
  from(person: Person, timestamp: number): object {
    return {
      source: person.number ?? person.uuid,
      sourceNumber: person.number,
      sourceUuid: person.uuid,
      sourceName: person.name,
      sourceDevice: 1,
      timestamp,
      serverReceivedTimestamp: timestamp,
      serverDeliveredTimestamp: timestamp,
    };
  }

  /** What each message has. `room` null: it is to the account alone. */
  data(room: Group | null, timestamp: number, more: object): object {
    const groupInfo =
      room === null
        ? {}
        : { groupInfo: { groupId: room.id, groupName: room.name, revision: 1, type: "DELIVER" } };
    const basic = { timestamp, message: null, expiresInSeconds: 0, viewOnce: false };
    return { ...basic, isExpirationUpdate: false, ...more, ...groupInfo };
  }

  /** Says something, or does what `more` has; returns its time. */
  say(person: Person, room: Group | null, more: object): number {
    const timestamp = this.now();
    const dataMessage = this.data(room, timestamp, more);
    this.#emit({ ...this.from(person, timestamp), dataMessage });
    return timestamp;
  }

  edit(person: Person, room: Group | null, target: number, more: object): number {
    const timestamp = this.now();
    const dataMessage = this.data(room, timestamp, more);
    const editMessage = { targetSentTimestamp: target, dataMessage };
    this.#emit({ ...this.from(person, timestamp), editMessage });
    return timestamp;
  }

  /** The account says something on another of its devices. */
  sync(room: Group | Person, more: object): number {
    const timestamp = this.now();
    const self = { number: this.account, uuid: this.aci, name: "Scout" };
    const isGroup = "members" in room;
    const destination = isGroup ? null : (room.number ?? room.uuid);
    const sentMessage = {
      destination,
      destinationNumber: isGroup ? null : room.number,
      destinationUuid: isGroup ? null : room.uuid,
      ...this.data(isGroup ? room : null, timestamp, more),
    };
    this.#emit({ ...this.from(self, timestamp), syncMessage: { sentMessage } });
    return timestamp;
  }

  emit(envelope: object): void {
    this.#emit(envelope);
  }

  perform(method: string, params: Params): unknown {
    switch (method) {
      case "send":
        return this.#send(params);
      case "sendReaction":
        return this.#react(params);
      case "sendTyping":
        this.#target(params);
        this.typings.push(params);
        return {};
      case "listGroups":
        return this.groups.map(({ id, name, members }) => ({
          id,
          name,
          description: "",
          isMember: true,
          isBlocked: false,
          messageExpirationTime: 0,
          members: [...members, { number: this.account, uuid: this.aci }].map(
            ({ number, uuid }) => ({ number, uuid }),
          ),
          pendingMembers: [],
          requestingMembers: [],
          admins: [],
          banned: [],
          groupInviteLink: null,
        }));
      case "getAttachment": {
        const data = this.files.get(String(params.id));
        if (data === undefined) throw new RpcFailure(-32_603, "Could not find attachment");
        return { data: data.toString("base64") };
      }
      default:
        throw new RpcFailure(-32_601, "The method does not exist");
    }
  }

  #target({ groupId, recipient }: Params): string {
    const groups = listOf(groupId).map(String);
    const persons = listOf(recipient).map(String);
    const [target] = [...groups, ...persons];
    if (target === undefined) throw new RpcFailure(-1, "No recipients given");
    if (groups.length > 0 && !this.groups.some(({ id }) => id === target))
      throw new RpcFailure(-1, "Group not found");
    if (persons.length > 0 && !/^\+\d{5,15}$|^[0-9a-f-]{36}$/.test(target))
      throw new RpcFailure(-1, "Invalid phone number");
    return target;
  }

  #results(target: string): object[] {
    const members = this.groups.find(({ id }) => id === target)?.members ?? [{ uuid: target }];
    return members.map(({ uuid }) => ({
      recipientAddress: { uuid, number: null },
      type: this.failures.get(uuid) ?? "SUCCESS",
    }));
  }

  #send(params: Params): object {
    const target = this.#target(params);
    const { message = "", editTimestamp, quoteTimestamp, quoteAuthor, quoteMessage } = params;
    const attachments = listOf(params.attachments).map(String);
    const textStyles = listOf(params.textStyles).map(String);
    if (message === "" && attachments.length === 0)
      throw new RpcFailure(-1, "Sending empty message is not allowed");
    for (const style of textStyles) {
      const [, start, length, name = ""] = /^(\d+):(\d+):(.+)$/.exec(style) ?? [];
      const end = Number(start) + Number(length);
      if (!styles.has(name) || !(end <= String(message).length))
        throw new RpcFailure(-1, `Invalid textStyle syntax (${style})`);
    }
    for (const file of attachments)
      if (!/^data:[^;,]+\/[^;,]+(?:;[^;,=]+=[^;,]+)*;base64,[A-Za-z0-9+/=]+$/.test(file))
        throw new RpcFailure(-1, "Attachment is invalid");
    if (quoteTimestamp !== undefined && typeof quoteAuthor !== "string")
      throw new RpcFailure(-1, "Invalid quote author");
    const timestamp = this.now();
    const results = this.#results(target);
    if (results.every((result) => !("type" in result) || result.type !== "SUCCESS"))
      throw new RpcFailure(-1, "Failed to send message", { response: { timestamp, results } });
    if (editTimestamp !== undefined) {
      const edited = this.sent.find((one) =>
        [one.timestamp, ...one.edits].some((time) => time === editTimestamp),
      );
      if (edited === undefined) throw new RpcFailure(-1, "No message to edit");
      edited.message = String(message);
      edited.textStyles = textStyles;
      edited.edits.push(timestamp);
    } else
      this.sent.push({
        timestamp,
        target,
        message: String(message),
        textStyles,
        attachments,
        mentions: listOf(params.mentions ?? params.mention),
        quote:
          quoteTimestamp === undefined
            ? null
            : {
                author: String(quoteAuthor),
                timestamp: Number(quoteTimestamp),
                text: String(quoteMessage ?? ""),
              },
        edits: [],
      });
    return { timestamp, results };
  }

  #react(params: Params): object {
    const target = this.#target(params);
    const { emoji, targetAuthor, targetTimestamp, remove } = params;
    if (typeof emoji !== "string" || typeof targetAuthor !== "string")
      throw new RpcFailure(-1, "Invalid reaction");
    const key = `${targetAuthor}:${String(targetTimestamp)}`;
    if (remove === true) this.reactions.delete(key);
    else this.reactions.set(key, emoji);
    return { timestamp: this.now(), results: this.#results(target) };
  }
}
