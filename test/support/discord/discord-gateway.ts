/**
 * The gateway of a Discord on loopback, after https://discord.com/developers/docs/events/gateway: hello,
 * heartbeats, identify, resume with everything missed, invalid sessions, close codes. A session outlives its
 * connection until it is forgotten.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { DiscordWorld, Event } from "./discord-world.ts";

interface Session {
  readonly id: string;
  readonly intents: number;
  readonly events: { readonly s: number; readonly t: string; readonly d: unknown }[];
  socket: WebSocket | null;
}

const messageContent = 1 << 15;

export class DiscordGateway {
  readonly #world: DiscordWorld;
  readonly #wss = new WebSocketServer({ noServer: true });
  readonly #sockets = new Set<WebSocket>();
  readonly #sessions = new Map<string, Session>();
  #count = 0;
  token = "";
  url = "";
  /** Whether the Developer Portal allows the intent MESSAGE CONTENT. */
  allowsContent = true;
  /** How often the next event is sent. */
  copies = 1;
  /** Of all connections, in order: what each asked for first. */
  readonly logins: ("identify" | "resume")[] = [];

  constructor(world: DiscordWorld) {
    this.#world = world;
    world.onEvent = (event) => this.#emit(event);
  }

  get connections(): number {
    return this.#sockets.size;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#wss.handleUpgrade(request, socket, head, (opened) => this.#welcome(opened));
  }

  /** Cuts every connection; the sessions stay. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
    this.#sockets.clear();
  }

  /** Ends every connection with a close code. */
  end(code: number): void {
    for (const socket of this.#sockets) socket.close(code);
  }

  /** Asks for a new connection, as Discord does now and then. */
  askReconnect(): void {
    for (const socket of this.#sockets) send(socket, { op: 7, d: null });
  }

  /** No session can be resumed any more. */
  forget(): void {
    this.#sessions.clear();
  }

  /** Something that is no event. */
  raw(text: string): void {
    for (const socket of this.#sockets) socket.send(text);
  }

  #welcome(socket: WebSocket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("message", (data) => this.#onMessage(socket, JSON.parse(String(data))));
    socket.on("close", (code) => {
      this.#sockets.delete(socket);
      for (const session of this.#sessions.values())
        if (session.socket === socket) {
          session.socket = null;
          if (code === 1000 || code === 1001) this.#sessions.delete(session.id);
        }
      this.#world.changed();
    });
    send(socket, { op: 10, d: { heartbeat_interval: 41_250 } });
  }

  #onMessage(socket: WebSocket, { op, d }: { op: number; d: Record<string, unknown> }): void {
    if (op === 1) send(socket, { op: 11 });
    else if (op === 2) this.#identify(socket, d);
    else if (op === 6) this.#resume(socket, d);
  }

  #identify(socket: WebSocket, { token, intents }: Record<string, unknown>): void {
    this.logins.push("identify");
    const isDenied = (Number(intents) & messageContent) !== 0 && !this.allowsContent;
    if (token !== this.token) socket.close(4004, "Authentication failed.");
    else if (isDenied) socket.close(4014, "Disallowed intent(s).");
    else this.#begin(socket, Number(intents));
  }

  #begin(socket: WebSocket, intents: number): void {
    this.#count += 1;
    const id = `session-${this.#count}`;
    const session: Session = { id, intents, events: [], socket };
    this.#sessions.set(id, session);
    const { bot, guilds, applicationId } = this.#world;
    this.#give(session, {
      t: "READY",
      d: {
        v: 10,
        user: bot,
        session_id: id,
        resume_gateway_url: this.url,
        guilds: guilds.map((guild) => ({ id: guild.id, unavailable: true })),
        application: { id: applicationId, flags: 0 },
      },
    });
    for (const guild of guilds)
      this.#give(session, { t: "GUILD_CREATE", d: this.#world.guildCreate(guild) });
    this.#world.changed();
  }

  #resume(socket: WebSocket, { token, session_id, seq }: Record<string, unknown>): void {
    this.logins.push("resume");
    const session = this.#sessions.get(String(session_id));
    if (token !== this.token) socket.close(4004, "Authentication failed.");
    else if (session === undefined) send(socket, { op: 9, d: false });
    else {
      session.socket = socket;
      for (const event of session.events)
        if (event.s > Number(seq)) send(socket, { op: 0, ...event });
      this.#give(session, { t: "RESUMED", d: {} });
      this.#world.changed();
    }
  }

  #emit(event: Event): void {
    const { copies } = this;
    this.copies = 1;
    for (const session of this.#sessions.values()) this.#give(session, event, copies);
  }

  #give(session: Session, { t, d }: Event, copies = 1): void {
    const s = session.events.length + 1;
    const seen = t.startsWith("MESSAGE_") ? this.#asSeen(session, d) : d;
    const event = { s, t, d: structuredClone(seen) };
    session.events.push(event);
    const { socket } = session;
    if (socket !== null)
      for (let copy = 0; copy < copies; copy += 1) send(socket, { op: 0, ...event });
  }

  /** Without the intent, only mentions, direct messages and the bot's own have content. */
  #asSeen({ intents }: Session, d: unknown): unknown {
    const message = d as {
      guild_id?: string;
      mentions?: { id: string }[];
      author?: { id: string };
    };
    const { bot } = this.#world;
    if ((intents & messageContent) !== 0 || message.guild_id === undefined) return d;
    const isShown =
      message.author?.id === bot.id || message.mentions?.some(({ id }) => id === bot.id) === true;
    return isShown || !("content" in message)
      ? d
      : { ...message, content: "", attachments: [], embeds: [], components: [] };
  }
}

const send = (socket: WebSocket, payload: object): void => {
  socket.send(JSON.stringify(payload));
};
