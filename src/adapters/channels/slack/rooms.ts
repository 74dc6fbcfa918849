/**
 * What an account can ask about a room: who is in it, and what was said last; and what its token may do.
 */
import type { Inbound, Route } from "../../../domain/message.ts";
import type { SlackClient } from "./client.ts";
import type { Person, SlackDirectory } from "./directory.ts";
import { whoAmI } from "./gateway.ts";
import { inboundOf } from "./normalise.ts";
import { historySchema, membersSchema, nextOf } from "./wire.ts";

const membersMax = 1_000;
/** Members that are asked about one by one; with more the count is only a hint. */
const askedMax = 50;
const atOnceMax = 8;
const pageMax = 200;

/** Scopes that earshot uses, each with what does not work without it. */
const scopes: Readonly<Record<string, string>> = {
  "chat:write": "it cannot answer",
  "channels:history": "it does not hear public channels",
  "groups:history": "it does not hear private channels",
  "im:history": "it does not hear direct messages",
  "mpim:history": "it does not hear group direct messages",
  "channels:read": "names and members of public channels are unknown",
  "groups:read": "names and members of private channels are unknown",
  "im:read": "direct messages of a time when it was away are not read",
  "mpim:read": "group direct messages of a time when it was away are not read",
  "users:read": "people have no names",
  "reactions:read": "it does not see reactions",
  "reactions:write": "it cannot react",
  "files:read": "it cannot read files",
  "files:write": "it cannot send files",
};

/** What is missing of a token, where Slack says what it has. */
export function missingScopes(granted: readonly string[] | null): readonly string[] {
  if (granted === null) return [];
  return Object.entries(scopes).flatMap(([scope, without]) =>
    granted.includes(scope)
      ? []
      : [
          `The scope ${scope} is missing: ${without}. Add it under OAuth & Permissions and reinstall.`,
        ],
  );
}

/** People and bots in a conversation. */
export async function membersIn(
  client: SlackClient,
  directory: SlackDirectory,
  { chat }: Route,
  signal: AbortSignal,
): Promise<{ humans: number; bots: number; truncated: boolean }> {
  if (chat.kind === "direct") return { humans: 1, bots: 1, truncated: false };
  const channel = directory.currentId(chat.id);
  const options = { kind: "ask", signal } as const;
  const members: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null && members.length < membersMax) {
    const args = { channel, limit: pageMax, ...(cursor && { cursor }) };
    const page: { members: string[]; response_metadata?: Parameters<typeof nextOf>[0] } =
      await client.call("conversations.members", args, options, membersSchema);
    members.push(...page.members);
    cursor = nextOf(page.response_metadata);
  }
  const people: (Person | null)[] = [];
  for (let from = 0; from < Math.min(members.length, askedMax); from += atOnceMax) {
    const some = members.slice(from, Math.min(from + atOnceMax, askedMax));
    people.push(...(await Promise.all(some.map((id) => directory.person(id, signal)))));
  }
  const bots = people.filter((person) => person?.isBot === true).length;
  const isKnown = people.every((person) => person !== null) && members.length <= askedMax;
  return { humans: members.length - bots, bots, truncated: !isKnown || cursor !== null };
}

/** The newest messages of a conversation or of a thread, oldest first. */
export async function historyIn(
  client: SlackClient,
  directory: SlackDirectory,
  account: string,
  { route, limit, signal }: { route: Route; limit: number; signal: AbortSignal },
): Promise<readonly Inbound[]> {
  const { self } = await whoAmI(client, signal);
  const { chat, thread } = route;
  const channel = directory.currentId(chat.id);
  const method = thread === null ? "conversations.history" : "conversations.replies";
  const options = { kind: "ask", signal } as const;
  // Replies come oldest first: with a limit they would be the oldest ones.
  const args =
    thread === null
      ? { channel, limit: Math.min(limit, pageMax) }
      : { channel, ts: thread.id, limit: pageMax };
  const page = await client.call(method, args, options, historySchema);
  const newest = page.messages.sort((a, b) => Number(a.ts) - Number(b.ts)).slice(-limit);
  const receiver = { account, self, directory, signal };
  const read: Inbound[] = [];
  for (const message of newest) {
    const inbound = await inboundOf(message, channel, receiver);
    if (inbound !== null) read.push(inbound);
  }
  return read;
}
