/**
 * People and a bot on a real Synapse, which scripts/synapse.mjs has started: registered through its admin
 * API (https://element-hq.github.io/synapse/latest/admin_api/register_api.html), speaking as clients do.
 */
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { ChannelWorld, SpokenMessage } from "../../../src/testing/channel-world.ts";

export const synapse = process.env.EARSHOT_SYNAPSE ?? "";
const secret = process.env.EARSHOT_SYNAPSE_SECRET ?? "";

type Json = Record<string, unknown>;

interface Event {
  readonly event_id: string;
  readonly type: string;
  readonly sender: string;
  readonly content: Json & {
    readonly body?: string;
    readonly "m.relates_to"?: Json;
    readonly "m.new_content"?: { readonly body: string };
  };
}

/** Somebody with an account, logged in. */
export class SynapsePerson {
  readonly id: string;
  readonly token: string;

  constructor(id: string, token: string) {
    this.id = id;
    this.token = token;
  }

  static async register(name: string): Promise<SynapsePerson> {
    const path = `${synapse}/_synapse/admin/v1/register`;
    const { nonce } = (await (await fetch(path)).json()) as { nonce: string };
    const username = `${name}-${randomUUID().slice(0, 8)}`;
    const password = randomUUID();
    const mac = createHmac("sha1", secret)
      .update([nonce, username, password, "notadmin"].join("\0"))
      .digest("hex");
    const body = { nonce, username, displayname: name, password, admin: false, mac };
    const answer = await fetch(path, { method: "POST", body: JSON.stringify(body) });
    const { user_id, access_token } = (await answer.json()) as Record<string, string>;
    if (!answer.ok) throw new Error(`not registered: ${answer.status}`);
    return new SynapsePerson(user_id as string, access_token as string);
  }

  async ask(method: string, path: string, body?: object): Promise<Json> {
    const answer = await fetch(`${synapse}/_matrix/client/v3${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const json = (await answer.json()) as Json;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(json)}`);
    return json;
  }

  async room(name: string | null, invite: readonly string[], more: object = {}): Promise<string> {
    const body = { ...(name !== null && { name }), invite, preset: "private_chat", ...more };
    return String((await this.ask("POST", "/createRoom", body)).room_id);
  }

  async enter(room: string): Promise<void> {
    await this.ask("POST", `/join/${encodeURIComponent(room)}`, {});
  }

  async send(room: string, content: object, type = "m.room.message"): Promise<string> {
    const path = `/rooms/${encodeURIComponent(room)}/send/${type}/${randomUUID()}`;
    return String((await this.ask("PUT", path, content)).event_id);
  }

  say(room: string, body: string, more: object = {}): Promise<string> {
    return this.send(room, { msgtype: "m.text", body, ...more });
  }

  async redact(room: string, id: string): Promise<void> {
    const event = encodeURIComponent(id);
    await this.ask("PUT", `/rooms/${encodeURIComponent(room)}/redact/${event}/${randomUUID()}`, {});
  }

  /** All of a room, oldest first. */
  async events(room: string): Promise<readonly Event[]> {
    const found: Event[] = [];
    for (let from = ""; ; ) {
      const query = `dir=b&limit=500${from === "" ? "" : `&from=${encodeURIComponent(from)}`}`;
      const page = await this.ask("GET", `/rooms/${encodeURIComponent(room)}/messages?${query}`);
      found.push(...(page.chunk as Event[]));
      if (typeof page.end !== "string") return found.reverse();
      from = page.end;
    }
  }

  async members(room: string): Promise<readonly string[]> {
    const answer = await this.ask("GET", `/rooms/${encodeURIComponent(room)}/joined_members`);
    return Object.keys(answer.joined as object);
  }

  async logout(): Promise<void> {
    await this.ask("POST", "/logout", {});
  }
}

/** Resolves when something is so. */
export async function until(done: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 20_000; !(await done()); ) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((go) => setTimeout(go, 100));
  }
}

/** Passes on every byte to a port while it is up. */
async function startProxy(to: number) {
  const sockets = new Set<Socket>();
  let port = 0;
  let server: Server | null = null;
  const proxy = {
    get port() {
      return port;
    },
    async up() {
      server = createServer((client) => {
        const onward = connect(to, "127.0.0.1");
        for (const [socket, other] of [
          [client, onward],
          [onward, client],
        ] as const) {
          sockets.add(socket);
          socket.on("close", () => {
            sockets.delete(socket);
            other.destroy();
          });
          socket.on("error", () => other.destroy());
          socket.pipe(other);
        }
      }).listen(port, "127.0.0.1");
      await once(server, "listening");
      port = (server.address() as AddressInfo).port;
    },
    async down() {
      const closing = server;
      server = null;
      if (closing === null) return;
      closing.close();
      for (const socket of sockets) socket.destroy();
      await once(closing, "close");
    },
  };
  await proxy.up();
  return proxy;
}

/** Ann, Bob, another bot and ours in a room, the connection of ours through a proxy. */
export async function synapseWorld(): Promise<ChannelWorld> {
  const [ann, bob, robot, scout] = (await Promise.all(
    ["ann", "bob", "robot", "scout"].map((name) => SynapsePerson.register(name)),
  )) as [SynapsePerson, SynapsePerson, SynapsePerson, SynapsePerson];
  const proxy = await startProxy(Number(new URL(synapse).port));
  const others = [bob, robot, scout];
  const kitchen = await ann.room(
    "kitchen",
    others.map(({ id }) => id),
  );
  for (const one of others) await one.enter(kitchen);
  const direct = await ann.room(null, [scout.id], { is_direct: true });
  await scout.enter(direct);
  const data = `/user/${encodeURIComponent(scout.id)}/account_data/m.direct`;
  await scout.ask("PUT", data, { [ann.id]: [direct] });
  const old = {
    us: await scout.say(kitchen, "I said so"),
    other: await bob.say(kitchen, "Bob said so"),
  };
  const people = { us: scout.id, other: bob.id };
  const say = ({ text, by, mentions, repliesTo, in: where }: SpokenMessage) => {
    const user_ids = mentions === undefined ? [] : [people[mentions]];
    const root = { event_id: old.other };
    const thread = { rel_type: "m.thread", ...root, is_falling_back: true, "m.in_reply_to": root };
    const reply = repliesTo && { "m.in_reply_to": { event_id: old[repliesTo] } };
    const relation = where === "thread" ? thread : reply;
    const content = {
      "m.mentions": user_ids.length === 0 ? {} : { user_ids },
      ...(relation && { "m.relates_to": relation }),
      ...(by === "bot" && { msgtype: "m.notice" }),
    };
    return (by === "bot" ? robot : ann).say(where === "direct" ? direct : kitchen, text, content);
  };
  const shownNow = async () => {
    const all = await ann.events(kitchen);
    const ours = all.filter(
      ({ type, sender, event_id, content }) =>
        type === "m.room.message" && sender === scout.id && event_id !== old.us && content.body,
    );
    const isEdit = ({ content }: Event) => content["m.relates_to"]?.rel_type === "m.replace";
    return ours
      .filter((event) => !isEdit(event))
      .map(({ event_id: id, content }) => {
        const edit = ours.findLast(
          (one) => isEdit(one) && one.content["m.relates_to"]?.event_id === id,
        );
        const text = edit?.content["m.new_content"]?.body ?? content.body ?? "";
        const reply = content["m.relates_to"]?.["m.in_reply_to"] as
          | { event_id?: string }
          | undefined;
        return { id, text, replyTo: reply?.event_id ?? null };
      });
  };
  const relation = (id: string, key: string) => ({
    "m.relates_to": { rel_type: "m.annotation", event_id: id, key },
  });
  const put = new Map<string, string>();
  return {
    config: { homeserver: `http://127.0.0.1:${proxy.port}`, accessToken: scout.token },
    secrets: [scout.token],
    classified: [
      [{ text: "hi", in: "direct" }, { chat: { kind: "direct", id: direct, title: "ann" } }],
      [{ text: "hi" }, { chat: { kind: "group", title: "kitchen" }, author: { name: "ann" } }],
      [{ text: "hi", mentions: "us" }, { mentions: [{ id: scout.id, isSelf: true }] }],
      [{ text: "hi", mentions: "other" }, { mentions: [{ id: bob.id, isSelf: false }] }],
      [{ text: "hi", repliesTo: "us" }, { replyTo: { id: old.us, authorIsSelf: true } }],
      [{ text: "hi", repliesTo: "other" }, { replyTo: { id: old.other, authorId: bob.id } }],
      [{ text: "hi", in: "thread" }, { thread: { id: old.other, rootAuthorId: bob.id } }],
      [{ text: "hi", by: "bot" }, { author: { id: robot.id, isBot: true } }],
    ],
    say,
    route: () => ({
      channel: "matrix",
      account: "default",
      thread: null,
      chat: { id: kitchen, kind: "group" },
    }),
    async shown(count) {
      await until(async () => (await shownNow()).length >= count, `${count} messages`);
      return shownNow();
    },
    async edit(id, body) {
      await ann.say(kitchen, `* ${body}`, {
        "m.new_content": { msgtype: "m.text", body },
        "m.relates_to": { rel_type: "m.replace", event_id: id },
      });
    },
    async react(id, emoji, on) {
      if (on) put.set(id, await ann.send(kitchen, relation(id, emoji), "m.reaction"));
      else await ann.redact(kitchen, put.get(id) ?? "");
    },
    disconnect: () => proxy.down(),
    reconnect: () => proxy.up(),
    revoke: () => void scout.logout(),
    close: () => proxy.down(),
  };
}
