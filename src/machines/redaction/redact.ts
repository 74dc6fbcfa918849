/**
 * Redacting a recording
 * =====================
 * The same scenario with other words: structure, times and lengths stay, so that a replay makes the
 * same decisions. Every text is replaced (redact.text.ts), ids too; what stays is what earshot
 * itself gave names to: channels, accounts, agents and what they listen to. Of the config only what
 * takes part in decisions is left.
 */
import { type EarshotConfig, isPlain } from "../../domain/config/index.ts";
import { formatSessionKey, isSessionKey, parseSessionKey } from "../../domain/key.ts";
import type { Inbound } from "../../domain/message.ts";
import type { ScenarioHeader, ScenarioLine } from "../../domain/scenario/scenario.ts";
import { TextRedactor } from "./redact-text.ts";

type Fields = Record<string, unknown>;

/** Names that the config gave, and words that are chosen from a list. */
const plainFields: ReadonlySet<string> = new Set([
  ...[
    "channel",
    "account",
    "kind",
    "agentId",
    "send",
    "crash",
    "emoji",
    "added",
    "removed",
    "tool",
    "as",
    "mime",
    "expected",
  ],
  ...["claim"],
]);
/** Ids of the platform's: replaced letter by letter, whatever they say. */
const idFields: ReadonlySet<string> = new Set([
  ...[
    "id",
    "authorId",
    "rootAuthorId",
    "movedTo",
    "messageId",
    "guildId",
    "teamId",
    "groupId",
    "editId",
    "reactionId",
    "chat",
    "thread",
    "code",
  ],
  ...["sender", "roles"],
]);
/** Sections of a config that take part in decisions; lists and ids in them are looked at below. */
const plainSections = [
  ...["agents", "bindings", "broadcast", "channels", "access", "engagement", "context"],
  ...["loopGuard", "messages", "stream", "typing", "silent", "turn", "session", "commands"],
  ...["errors", "workers", "conversations"],
];
/** Of an agent: instructions, folders and drivers are nobody else's business. */
const agentFields: ReadonlySet<string> = new Set([
  ...["id", "name", "aliases", "default", "maxConcurrent", "contextTokens", "engagement"],
  ...["context", "loopGuard", "messages", "stream", "typing", "silent", "turn", "errors"],
]);
const placeFields: ReadonlySet<string> = new Set([
  ...["enabled", "enforceOwner", "accounts", "dmPolicy", "groupPolicy", "allowFrom"],
  ...["groupAllowFrom", "groups", "engagement", "context", "loopGuard", "messages", "stream"],
  ...["typing", "silent", "turn", "errors", "aliases"],
]);

export class Redactor {
  readonly #key: string;
  readonly #configOf: (config: Fields) => EarshotConfig;
  #texts: TextRedactor;

  /**
   * `key`: the same key gives the same pseudonyms. `configOf` reads what a header says.
   * @throws what `configOf` throws.
   */
  constructor(key: string, header: ScenarioHeader, configOf: (config: Fields) => EarshotConfig) {
    this.#key = key;
    this.#configOf = configOf;
    this.#texts = new TextRedactor(key, configOf(header.config));
  }

  header(header: ScenarioHeader): ScenarioHeader {
    return { ...header, config: this.#config(header.config) };
  }

  line(line: ScenarioLine): ScenarioLine {
    if ("config" in line) {
      this.#texts = new TextRedactor(this.#key, this.#configOf(line.config));
      return { ...line, config: this.#config(line.config) };
    }
    if ("operator" in line) {
      const { operator } = line;
      return { ...line, operator: { ...operator, key: this.#sessionKey(operator.key) } };
    }
    if ("judge" in line) {
      const { key, id, why } = line.judge;
      const texts = { id: this.#texts.id(id), why: this.#texts.text(why) };
      return { ...line, judge: { ...line.judge, key: this.#sessionKey(key), ...texts } };
    }
    for (const message of "in" in line ? [line.in] : "history" in line ? line.history.messages : [])
      this.#noteBot(message);
    return this.#redactValue(line, "") as ScenarioLine;
  }

  #noteBot({ author }: Inbound): void {
    if (author.isBot) this.#texts.noteBot(author.name);
  }

  #redactValue(value: unknown, field: string): unknown {
    if (typeof value === "string") return this.#replace(value, field);
    if (Array.isArray(value)) return value.map((one) => this.#redactValue(one, field));
    if (!isPlain(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, this.#redactValue(one, name)]),
    );
  }

  #replace(text: string, field: string): string {
    if (plainFields.has(field)) return text;
    if (field === "key") return this.#sessionKey(text);
    return idFields.has(field) ? this.#texts.id(text) : this.#texts.text(text);
  }

  #sessionKey(key: string): string {
    if (!isSessionKey(key)) return this.#texts.id(key);
    const parts = parseSessionKey(key);
    const id = (text: string) => this.#texts.id(text);
    const { thread } = parts;
    const below = thread === null ? null : { ...thread, id: id(thread.id) };
    if (parts.kind === "main") return formatSessionKey({ ...parts, thread: below });
    if ("id" in parts) return formatSessionKey({ ...parts, id: id(parts.id), thread: below });
    return formatSessionKey({ ...parts, peer: id(parts.peer), thread: below });
  }

  #config(config: Fields): Fields {
    const out: Fields = {};
    for (const section of plainSections)
      if (config[section] !== undefined) out[section] = this.#section(section, config[section]);
    return out;
  }

  #section(section: string, value: unknown): unknown {
    switch (section) {
      case "agents":
        return agentsOf(value);
      case "channels":
        return mapped(value, (place) => this.#place(place));
      case "conversations":
        return mapped(
          value,
          (one) => this.#ids(one, ""),
          (key) => this.#sessionKey(key),
        );
      case "broadcast":
        return mapped(
          value,
          (one) => one,
          (peer) => (peer === "strategy" ? peer : this.#texts.id(peer)),
        );
      case "bindings":
        return (Array.isArray(value) ? value : []).map((one) => this.#ids(one, ""));
      default:
        return this.#ids(value, "");
    }
  }

  #place(value: unknown): unknown {
    const kept = picked(value, placeFields);
    if (isPlain(kept) && kept.accounts !== undefined)
      return this.#ids(
        { ...kept, accounts: mapped(kept.accounts, (one) => picked(one, placeFields)) },
        "",
      );
    return this.#ids(kept, "");
  }

  /** Ids of people, chats and roles wherever a section lists them; everything else stays. */
  #ids(value: unknown, field: string): unknown {
    if (Array.isArray(value))
      return value.map((one) =>
        typeof one === "string" && listFields.has(field)
          ? this.#scoped(one)
          : this.#ids(one, field),
      );
    if (field === "judge" && isPlain(value)) return judgeOf(value);
    if (!isPlain(value)) {
      const isId = typeof value === "string" && ["id", "guildId", "teamId"].includes(field);
      return isId ? this.#scoped(value) : value;
    }
    const isList = field === "allowFrom" || field === "identityLinks";
    const named = {
      groups: (id: string) => this.#scoped(id),
      topics: (id: string) => this.#texts.id(id),
      identityLinks: (id: string) => this.#texts.id(id),
    };
    const rename = Object.hasOwn(named, field)
      ? named[field as keyof typeof named]
      : (name: string) => name;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !droppedFields.has(name))
        .map(([name, one]) => [rename(name), this.#ids(one, isList ? "allowFrom" : name)]),
    );
  }

  /** `telegram:123`: the channel stays. */
  #scoped(id: string): string {
    const colon = id.indexOf(":");
    return id.slice(0, colon + 1) + this.#texts.id(id.slice(colon + 1));
  }
}

/** Words and places of the config's author, and what decides nothing. */
const droppedFields: ReadonlySet<string> = new Set([
  ...[
    "store",
    "messagePrefix",
    "responsePrefix",
    "purpose",
    "system",
    "model",
    "tools",
    "heartbeat",
    "media",
  ],
]);
const listFields: ReadonlySet<string> = new Set([
  ...["allowFrom", "groupAllowFrom", "ownerAllowFrom", "roles", "identityLinks"],
]);

/** There is a judge, and how sure it has to be; what it runs is nobody else's business. */
const judgeOf = ({ minConfidence }: Fields): Fields => ({
  kind: "module",
  module: "redacted",
  ...(minConfidence === undefined ? {} : { minConfidence }),
});

function agentsOf(value: unknown): unknown {
  if (!isPlain(value) || !Array.isArray(value.list)) return {};
  const list = value.list.map((agent: unknown) => {
    const kept = picked(agent, agentFields);
    const folder = isPlain(agent) && typeof agent.workspace === "string" ? agent.workspace : "";
    const last = folder.split(/[/\\]/u).findLast((part) => part !== "");
    // A folder's name is one of the agent's names; where it lies is not.
    return last === undefined || /^[~.]*$/u.test(last)
      ? kept
      : { ...(kept as Fields), workspace: last };
  });
  const { maxConcurrent } = isPlain(value.defaults) ? value.defaults : {};
  return { list, ...(maxConcurrent === undefined ? {} : { defaults: { maxConcurrent } }) };
}

function picked(value: unknown, fields: ReadonlySet<string>): unknown {
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => fields.has(name)));
}

function mapped(
  value: unknown,
  change: (one: unknown) => unknown,
  rename: (name: string) => string = (name) => name,
): unknown {
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [rename(name), change(one)]),
  );
}
