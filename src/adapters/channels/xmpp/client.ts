/**
 * One connection to an XMPP server
 * ================================
 * @xmpp/client speaks the stream, logs in and answers pings. What it would do on its own is turned off:
 * it acknowledges stanzas (XEP-0198) when they arrive, not when they are durable, and repeats what it
 * sent when it resumes, although the outbox decides about that; a new session and the archive take the
 * place of both. Questions have a limit and end with the connection.
 */
import { randomUUID } from "node:crypto";
import type { Client, Element } from "@xmpp/client";
import type { EarshotError } from "../../../domain/errors.ts";
import type { Clock, Log } from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import { loadPackage } from "../shared/optional-package.ts";
import type { XmppAccountConfig } from "./config.ts";
import { connectionError, explain, XmppLostError, XmppRefusedError } from "./errors.ts";
import { bareOf, domainOf } from "./names.ts";
import { spaces } from "./spaces.ts";
import { type Address, addressesOf, socketClass, type XmppSocket } from "./transport.ts";
import { faultOf, xmlText } from "./wire.ts";

const xmppPackage = { platform: "XMPP", name: "@xmpp/client", version: "^0.14.0" };
const loadXmpp = () => loadPackage(xmppPackage, () => import("@xmpp/client"));

const loginMsMax = 30_000;
export const askMsMax = 20_000;
/** Servers allow less: RFC 6120, section 13.12, asks for at least 10,000 bytes. */
const stanzaBytesMax = 4_194_304;
const pendingMax = 10_000;

type Xmpp = Awaited<ReturnType<typeof loadXmpp>>;

export interface ConnectionOptions {
  readonly config: XmppAccountConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** How often it was tried before without success: another address is taken. */
  readonly tries: number;
  /** Every message and presence, in order. */
  onStanza(element: Element, connection: XmppConnection): void;
}

/** Connects and logs in. */
export async function openConnection(
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<XmppConnection> {
  const library = await loadXmpp();
  const addresses = await addressesOf(options.config);
  const address = addresses[options.tries % addresses.length] as Address;
  const connection = new XmppConnection(library, address, options);
  const destroy = () => connection.destroy();
  try {
    signal.addEventListener("abort", destroy);
    if (signal.aborted) destroy();
    const done = await within(options.clock, loginMsMax, connection.login());
    if (done === late) throw connection.failure("it does not answer");
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
}

interface Pending {
  readonly to: string | null;
  readonly resolve: (answer: Element) => void;
  readonly reject: (error: Error) => void;
}

export class XmppConnection {
  /** When something came last. */
  heardAt: number;
  /** Resolves when it is over, to the reason. */
  readonly closed: Promise<EarshotError>;
  /** What the server says of our account (disco#info). */
  features: ReadonlySet<string> = new Set();
  readonly #options: ConnectionOptions;
  readonly #library: Xmpp;
  readonly #client: Client;
  readonly #domain: string;
  readonly #pending = new Map<string, Pending>();
  #socket: XmppSocket | null = null;
  #stanzaBytes = 0;
  #isOpen = true;
  #why: EarshotError | null = null;
  #refused: (error: EarshotError) => void = () => undefined;
  #close: (why: EarshotError) => void = () => undefined;

  constructor(library: Xmpp, address: Address, options: ConnectionOptions) {
    const { config, clock } = options;
    this.#options = options;
    this.#library = library;
    this.#domain = domainOf(config.jid);
    this.heardAt = clock.now();
    this.#client = library.client({
      service: `xmpp://${this.#domain}`,
      domain: this.#domain,
      username: config.jid.slice(0, config.jid.indexOf("@")),
      password: config.password,
      resource: config.resource,
      timeout: askMsMax,
    });
    this.#client.reconnect.stop();
    this.#useSocket(address);
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Our address with its resource. */
  get full(): string {
    return this.#client.jid?.toString() ?? this.bare;
  }

  get bare(): string {
    return bareOf(this.#client.jid?.toString() ?? this.#options.config.jid);
  }

  get domain(): string {
    return this.#domain;
  }

  failure(
    why: string,
    code: "EAR_CHANNEL_UNAVAILABLE" | "EAR_CHANNEL_AUTH" = "EAR_CHANNEL_UNAVAILABLE",
  ): EarshotError {
    return connectionError(code, this.#domain, why, [this.#options.config.password]);
  }

  /** An element; what XML cannot hold is left out of its texts. */
  element(
    name: string,
    attrs: Readonly<Record<string, string | undefined>> = {},
    ...children: readonly (Element | string)[]
  ): Element {
    const clean = Object.entries(attrs).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, xmlText(value)]],
    );
    const inside = children.map((one) => (typeof one === "string" ? xmlText(one) : one));
    return this.#library.xml(name, Object.fromEntries(clean), ...inside);
  }

  /** Resolves when the login is complete. */
  login(): Promise<void> {
    const client = this.#client;
    client.on("error", (error) => this.#failed(error));
    client.on("close", () => this.#end(this.failure("it closed the stream")));
    client.on("disconnect", () => this.#end(this.failure("the connection was closed")));
    client.prependListener("element", (element) => this.#take(element));
    client.iqCallee.get(spaces.info, "query", () => this.#about());
    return new Promise((resolve, reject) => {
      this.#refused = reject;
      client.start().then(
        () => resolve(),
        (error: Error) => this.#failed(error),
      );
    });
  }

  /** Writes a stanza; nothing becomes of it when the connection is gone. */
  send(element: Element): void {
    if (this.#isOpen) this.#client.send(element).catch(() => undefined);
  }

  /**
   * Asks; resolves to the answer.
   * @throws XmppRefusedError if the answer is an error, XmppLostError if none came
   */
  ask(
    type: "get" | "set",
    to: string | null,
    query: Element,
    signal?: AbortSignal,
  ): Promise<Element> {
    const id = randomUUID();
    const iq = this.element("iq", { type, id, to: to ?? undefined }, query);
    return this.await(id, to, iq, signal);
  }

  /**
   * Sends a stanza and waits for the one with the same id that answers it.
   * @param from who may answer; null: our server
   */
  async await(
    id: string,
    from: string | null,
    stanza: Element,
    signal?: AbortSignal,
  ): Promise<Element> {
    if (!this.#isOpen || signal?.aborted === true) throw this.failure("it is not connected");
    if (this.#pending.size >= pendingMax) throw this.failure("too much waits for an answer");
    const answer = new Promise<Element>((resolve, reject) => {
      this.#pending.set(id, { to: from, resolve, reject });
    });
    const cancel = () => this.#pending.get(id)?.reject(new XmppLostError("it was cancelled"));
    signal?.addEventListener("abort", cancel);
    this.send(stanza);
    try {
      const found = await within(this.#options.clock, askMsMax, answer);
      if (found === late) throw new XmppLostError("no answer in time");
      if (found.attrs.type === "error") throw new XmppRefusedError(faultOf(found));
      return found;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#pending.delete(id);
    }
  }

  /** Ends what waits for this id, if something does and this sender may answer. */
  settle(id: string | undefined, from: string | null, answer: Element): boolean {
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (pending === undefined || !this.#mayAnswer(pending.to, from)) return false;
    pending.resolve(answer);
    return true;
  }

  /** Resolves when the server has read everything so far; rejects when it does not answer. */
  async ping(signal?: AbortSignal, msMax = askMsMax): Promise<void> {
    const ping = this.element("ping", { xmlns: spaces.ping });
    const asked = this.ask("get", this.#domain, ping, signal);
    try {
      const done = await within(this.#options.clock, msMax, asked);
      if (done === late) throw new XmppLostError("no answer in time");
    } catch (error) {
      // A server without pings says so, which is an answer.
      if (!(error instanceof XmppRefusedError)) throw error;
    }
  }

  /** The features of a place (XEP-0030). */
  async featuresOf(jid: string, signal?: AbortSignal): Promise<ReadonlySet<string>> {
    const info = await this.ask("get", jid, this.element("query", { xmlns: spaces.info }), signal);
    const found = info.getChild("query", spaces.info)?.getChildren("feature") ?? [];
    return new Set(found.slice(0, 500).map(({ attrs }) => attrs.var ?? ""));
  }

  /** Stops reading, so that the server waits. */
  pause(paused: boolean): void {
    if (paused) this.#socket?.pause();
    else this.#socket?.resume();
  }

  /** Says goodbye; the connection ends with it, or soon after. */
  quit(): void {
    this.send(this.element("presence", { type: "unavailable" }));
    if (this.#isOpen) this.#client.write("</stream:stream>").catch(() => undefined);
    this.#end(this.failure("it was stopped"), false);
  }

  /** @param why a reason that is found out here, such as silence */
  destroy(why = "it was stopped"): void {
    this.#end(this.failure(why));
  }

  #mayAnswer(asked: string | null, from: string | null): boolean {
    if (from === asked) return true;
    // For what was asked of our own account, servers leave `from` out or write it.
    const own: readonly (string | null)[] = [null, this.bare, this.full, this.#domain];
    return own.includes(asked) && own.includes(from);
  }

  /** In place of the library's sockets. */
  #useSocket(address: Address): void {
    const { transports } = this.#client;
    const Tcp = transports.find(
      ({ prototype }) => prototype.socketParameters("xmpp://a:1") !== undefined,
    );
    if (Tcp === undefined) throw new Error("@xmpp/client has no TCP");
    const Mine = class extends (Tcp as new () => object) {} as unknown as typeof Tcp;
    const { verifyCertificate } = this.#options.config;
    Mine.prototype.Socket = socketClass(
      {
        ...address,
        verifyCertificate,
        domain: this.#domain,
        onData: (bytes) => this.#onData(bytes),
      },
      (made) => {
        this.#socket = made;
      },
    );
    transports.splice(0, transports.length, Mine);
  }

  #onData(bytes: number): boolean {
    this.heardAt = this.#options.clock.now();
    this.#stanzaBytes += bytes;
    if (this.#stanzaBytes > stanzaBytesMax) this.destroy("it sent a stanza that is too long");
    return this.#isOpen;
  }

  /** An element before the library gets it. */
  #take(element: Element): void {
    this.#stanzaBytes = 0;
    if (!this.#isOpen) return;
    if (element.is("features", spaces.streams)) {
      this.#onFeatures(element);
      return;
    }
    const { name } = element;
    if (name !== "iq" && name !== "message" && name !== "presence") return;
    const { type, id, from = null } = element.attrs;
    if (name === "iq") {
      if (type === "result" || type === "error") this.settle(id, from, element);
      return;
    }
    if (type === "error" && this.settle(id, from, element)) return;
    try {
      this.#options.onStanza(element, this);
    } catch (error) {
      const why = error instanceof Error ? error.name : "unknown";
      this.#options.log("warn", "xmpp.stanza-unreadable", { why, stanza: name });
    }
  }

  /** TLS comes first; what the library would do with the rest is cut down to the login. */
  #onFeatures(features: Element): void {
    if (this.#options.config.tls !== "off" && this.#socket?.secure !== true) {
      const hasTls = features.getChild("starttls", spaces.startTls) !== undefined;
      features.children = [];
      if (hasTls) void this.#startTls();
      else this.#end(this.failure("it offers no TLS. Only on a local server: tls: off"));
      return;
    }
    const unwanted: readonly (string | undefined)[] = [
      spaces.streamManagement,
      spaces.sasl2,
      spaces.startTls,
    ];
    features.children = features.children.filter(
      (one) => typeof one === "string" || !unwanted.includes(one.getNS()),
    );
  }

  async #startTls(): Promise<void> {
    const client = this.#client;
    try {
      const answered = new Promise<Element>((resolve) => {
        client.prependListener("element", (element) => {
          if (element.getNS() === spaces.startTls) resolve(element);
        });
      });
      await client.send(this.element("starttls", { xmlns: spaces.startTls }));
      if (!(await answered).is("proceed")) throw new Error("STARTTLS was refused");
      await this.#socket?.upgrade();
      await client.restart();
    } catch (error) {
      this.#failed(error instanceof Error ? error : new Error("STARTTLS failed"));
    }
  }

  /** What we are, for who asks (XEP-0030): a bot. */
  #about(): Element {
    return this.element(
      "query",
      { xmlns: spaces.info },
      this.element("identity", { category: "client", type: "bot", name: "earshot" }),
      ...[
        spaces.info,
        spaces.ping,
        spaces.chatStates,
        spaces.correct,
        spaces.reactions,
        spaces.reply,
      ].map((feature) => this.element("feature", { var: feature })),
    );
  }

  #failed(error: Error): void {
    const { code, why } = explain(error);
    this.#why ??= this.failure(why, code);
    this.#end(this.#why);
  }

  #end(why: EarshotError, now = true): void {
    if (now) this.#socket?.destroy();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const reason = this.#why ?? why;
    for (const pending of this.#pending.values()) pending.reject(new XmppLostError(reason.message));
    this.#pending.clear();
    this.#refused(reason);
    // What the library still waits for ends with this, and its timers.
    this.#client.emit("error", new Error("it is over"));
    this.#close(reason);
    if (!now) this.#options.clock.setLimit(500, () => this.#socket?.destroy());
  }
}
