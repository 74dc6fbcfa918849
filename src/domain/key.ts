/**
 * A session key names one conversation: an agent, and the chat or person it talks to. Routing
 * builds the key from what a channel reported; it is never taken from a caller. Keys are text
 * because they are logged, typed and compared; their parts are encoded so that no id can imitate
 * another part (docs/guide/routing.md has the table).
 */
import { EarshotError } from "./errors.ts";
import { decodePart, encodePart } from "./key-parts.ts";

/** The account that a key leaves out. */
export const defaultAccount = "default";

interface CommonKeyParts {
  readonly agentId: string;
  readonly thread: { readonly kind: "thread" | "topic"; readonly id: string } | null;
}
/** All direct chats of an agent or, as `global`, everything it hears. */
interface MainKey extends CommonKeyParts {
  readonly kind: "main";
  readonly mainKey: string;
}
interface PeerKey extends CommonKeyParts {
  readonly kind: "per-peer";
  readonly peer: string;
}
interface ChannelPeerKey extends CommonKeyParts {
  readonly kind: "per-channel-peer";
  readonly channel: string;
  readonly account: string;
  readonly peer: string;
}
interface AccountChannelPeerKey extends CommonKeyParts {
  readonly kind: "per-account-channel-peer";
  readonly channel: string;
  readonly account: string;
  readonly peer: string;
}
interface ChatKey extends CommonKeyParts {
  readonly kind: "group" | "channel";
  readonly channel: string;
  readonly account: string;
  readonly id: string;
}
/** The decoded parts of a key. */
export type SessionKeyParts = MainKey | PeerKey | ChannelPeerKey | AccountChannelPeerKey | ChatKey;

function accountPath(account: string): string {
  return account === defaultAccount ? "" : `:account:${encodePart(account)}`;
}

function basePath(parts: SessionKeyParts): string {
  if (parts.kind === "main") return encodePart(parts.mainKey);
  if (parts.kind === "per-peer") return `direct:${encodePart(parts.peer)}`;
  const channel = encodePart(parts.channel);
  if (parts.kind === "per-account-channel-peer")
    return `${channel}:${encodePart(parts.account)}:direct:${encodePart(parts.peer)}`;
  const place = channel + accountPath(parts.account);
  if (parts.kind === "per-channel-peer") return `${place}:direct:${encodePart(parts.peer)}`;
  return `${place}:${parts.kind}:${encodePart(parts.id)}`;
}

/** Formats parts as a key. Different parts never give the same key. */
export function formatSessionKey(parts: SessionKeyParts): string {
  const { thread } = parts;
  const below = thread === null ? "" : `:${thread.kind}:${encodePart(thread.id)}`;
  return `agent:${encodePart(parts.agentId)}:${basePath(parts)}${below}`;
}

type Base = SessionKeyParts extends infer Parts
  ? Parts extends CommonKeyParts
    ? Omit<Parts, keyof CommonKeyParts>
    : never
  : never;
/** The decoded text at a position; the caller has checked that every position decodes. */
const at = (words: readonly string[], index: number): string => words[index] as string;

function chatBase(words: readonly string[], first: number, account: string): Base | null {
  const kind = words[first];
  const channel = at(words, 0);
  const id = at(words, first + 1);
  if (kind === "direct") return { kind: "per-channel-peer", channel, account, peer: id };
  if (kind === "group" || kind === "channel") return { kind, channel, account, id };
  return null;
}

/** Forms differ by position, not by their text: a channel may be called `direct`. */
function parseBase(words: readonly string[]): Base | null {
  if (words.length === 1) return { kind: "main", mainKey: at(words, 0) };
  if (words.length === 2 && words[0] === "direct") return { kind: "per-peer", peer: at(words, 1) };
  if (words.length === 3) return chatBase(words, 1, defaultAccount);
  if (words.length === 4 && words[2] === "direct")
    return {
      kind: "per-account-channel-peer",
      channel: at(words, 0),
      account: at(words, 1),
      peer: at(words, 3),
    };
  if (words.length === 5 && words[1] === "account" && words[2] !== defaultAccount)
    return chatBase(words, 3, at(words, 2));
  return null;
}

function tryParse(key: string): SessionKeyParts | null {
  const decoded = key.split(":").map(decodePart);
  if (decoded.includes(null)) return null;
  const [scheme, agentId, ...words] = decoded as string[];
  if (scheme !== "agent" || agentId === undefined) return null;
  const whole = parseBase(words);
  if (whole !== null) return { agentId, ...whole, thread: null };
  const [kind, id] = words.slice(-2);
  if (id === undefined || (kind !== "thread" && kind !== "topic")) return null;
  const base = parseBase(words.slice(0, -2));
  return base === null ? null : { agentId, ...base, thread: { kind, id } };
}

/** Whether a text is a session key in canonical form. */
export function isSessionKey(key: string): boolean {
  return tryParse(key) !== null;
}

/** Whether the session of a key may hold several chats. */
export function holdsSeveralChats(key: string): boolean {
  const kind = tryParse(key)?.kind;
  return kind === "main" || kind === "per-peer";
}

/**
 * Parses a key; the inverse of `formatSessionKey`.
 * @throws EarshotError EAR_KEY_INVALID when the text is not a key in canonical form.
 */
export function parseSessionKey(key: string): SessionKeyParts {
  const parts = tryParse(key);
  if (parts !== null) return parts;
  const shown = JSON.stringify(key.slice(0, 80)).replace(/[^\x20-\x7e]/gu, "?");
  throw new EarshotError(
    "EAR_KEY_INVALID",
    `Cannot read a session key: it does not have the form agent:<id>:… (received ${shown})`,
  );
}

/**
 * A 52-bit hash of a text: exact in a double, evenly distributed. Collisions are possible, so a
 * lookup by it must compare the text as well. Two 32-bit multiply-xor accumulators, mixed at the
 * end.
 */
export function hash52(text: string): number {
  let high = 0x9e3779b9 ^ text.length;
  let low = 0x85ebca6b;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
    high = (high << 13) | (high >>> 19);
    low = (low << 17) | (low >>> 15);
  }
  high = mixBits(high ^ (low >>> 7));
  low = mixBits(low ^ (high << 3));
  high = mixBits(high + low);
  return (high >>> 12) * 4_294_967_296 + (low >>> 0);
}

/** The finisher of MurmurHash3: every input bit reaches every output bit. */
function mixBits(bits: number): number {
  let value = bits ^ (bits >>> 16);
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  value = Math.imul(value, 0xc2b2ae35);
  return value ^ (value >>> 16);
}

const ulid = /^([0-7][0-9A-HJKMNP-TV-Z]{9})[0-9A-HJKMNP-TV-Z]{16}$/;
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * The time in a turn's id (a ULID begins with ten letters of it), ms since the epoch; 0 in another id.
 * As `sentAt` of the turn's events it puts them beside each other in the store's unique index, which is
 * in the order of times. With 0 each would change a page of its own somewhere.
 */
export function timeOfId(id: string): number {
  const time = ulid.exec(id)?.[1] ?? "";
  let ms = 0;
  for (const letter of time) ms = ms * 32 + letters.indexOf(letter);
  return ms;
}
