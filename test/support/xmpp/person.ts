/**
 * Somebody on XMPP with a client of their own: writes stanzas, keeps what comes. In rooms, the room
 * sends everybody the same in the same order, so what came back of an own message says what came
 * before it.
 */
import { randomUUID } from "node:crypto";
import { type Client, client, type Element, xml } from "@xmpp/client";
import { lookUntil } from "../../../src/testing/look-until.ts";
import { domain } from "./prosody.ts";

const mucUser = "http://jabber.org/protocol/muc#user";

export class XmppPerson {
  readonly stanzas: Element[] = [];
  readonly name: string;
  readonly #client: Client;
  readonly #waiting = new Set<() => void>();

  private constructor(name: string, made: Client) {
    this.name = name;
    this.#client = made;
    made.on("error", () => undefined);
    made.prependListener("element", (element) => {
      // The certificate is nobody's.
      if (element.is("features", "http://etherx.jabber.org/streams"))
        element.children = element.children.filter(
          (one) => typeof one === "string" || !["starttls", "sm"].includes(one.name),
        );
      this.stanzas.push(element);
      for (const look of [...this.#waiting]) look();
    });
  }

  get jid(): string {
    return `${this.name}@${domain}`;
  }

  static async connect(port: number, name: string, password: string): Promise<XmppPerson> {
    const made = client({
      service: `xmpp://127.0.0.1:${port}`,
      domain,
      username: name,
      password,
      resource: "home",
      timeout: 20_000,
    });
    made.reconnect.stop();
    const person = new XmppPerson(name, made);
    await made.start();
    await made.send(xml("presence"));
    return person;
  }

  send(element: Element): Promise<void> {
    return this.#client.send(element);
  }

  /** The first stanza that fits, now or later. */
  until(fits: (element: Element) => boolean): Promise<Element> {
    return lookUntil(
      () => this.stanzas.find(fits),
      () => `${this.name} heard ${this.stanzas.slice(-5).map(String).join("\n")}`,
      (look) => {
        this.#waiting.add(look);
        return () => this.#waiting.delete(look);
      },
    );
  }

  /** Asks; resolves to the answer, also if it is an error. */
  async ask(type: "get" | "set", to: string | undefined, query: Element): Promise<Element> {
    const id = randomUUID();
    await this.send(xml("iq", { type, id, to }, query));
    return this.until((one) => one.name === "iq" && one.attrs.id === id && one.attrs.type !== type);
  }

  /** Enters a room, and opens it if it is new; `config` are fields of its form. */
  async join(
    room: string,
    nick = this.name,
    config: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const from = this.stanzas.length;
    await this.send(
      xml(
        "presence",
        { to: `${room}/${nick}` },
        xml("x", { xmlns: "http://jabber.org/protocol/muc" }),
      ),
    );
    const isNew = (one: Element) =>
      this.stanzas.indexOf(one) >= from && one.attrs.from?.startsWith(room) === true;
    const own = await this.until(
      (one) => isNew(one) && one.name === "presence" && codesOf(one).includes("110"),
    );
    await this.until((one) => isNew(one) && one.getChild("subject") !== undefined);
    if (codesOf(own).includes("201")) await this.configure(room, config);
  }

  async configure(room: string, config: Readonly<Record<string, string>>): Promise<void> {
    const fields = { FORM_TYPE: "http://jabber.org/protocol/muc#roomconfig", ...config };
    const form = xml(
      "x",
      { xmlns: "jabber:x:data", type: "submit" },
      ...Object.entries(fields).map(([name, value]) =>
        xml("field", { var: name }, xml("value", {}, value)),
      ),
    );
    const query = xml("query", { xmlns: "http://jabber.org/protocol/muc#owner" }, form);
    const answer = await this.ask("set", room, query);
    if (answer.attrs.type === "error") throw new Error(String(answer));
  }

  /** Sends to a room; resolves to what everybody there got. */
  async inRoom(room: string, ...children: readonly Element[]): Promise<Element> {
    const id = randomUUID();
    await this.send(xml("message", { to: room, type: "groupchat", id }, ...children));
    return this.until(
      (one) =>
        one.name === "message" && one.attrs.id === id && one.attrs.from?.startsWith(room) === true,
    );
  }

  /** Says something in a room; resolves to the room's id of it, or the own one. */
  async say(room: string, text: string, ...children: readonly Element[]): Promise<string> {
    return idIn(await this.inRoom(room, xml("body", {}, text), ...children));
  }

  /** Says something to one person; resolves to the own id of it. */
  async write(to: string, text: string, ...children: readonly Element[]): Promise<string> {
    const id = randomUUID();
    await this.send(xml("message", { to, type: "chat", id }, xml("body", {}, text), ...children));
    return id;
  }

  /** Changes the role or affiliation of somebody in a room. */
  async admin(room: string, who: Readonly<Record<string, string>>, reason = ""): Promise<void> {
    const item = xml("item", who, ...(reason === "" ? [] : [xml("reason", {}, reason)]));
    const query = xml("query", { xmlns: "http://jabber.org/protocol/muc#admin" }, item);
    const answer = await this.ask("set", room, query);
    if (answer.attrs.type === "error") throw new Error(String(answer));
  }

  async leave(room: string, nick = this.name): Promise<void> {
    await this.send(xml("presence", { to: `${room}/${nick}`, type: "unavailable" }));
  }

  async close(): Promise<void> {
    await this.#client.stop().catch(() => undefined);
  }
}

/** Codes of a room's presence. */
export const codesOf = (presence: Element): string[] =>
  (presence.getChild("x", mucUser)?.getChildren("status") ?? []).map(
    ({ attrs }) => attrs.code ?? "",
  );

/** A room's id of a message, or else the sender's. */
export const idIn = (message: Element): string =>
  message.getChild("stanza-id", "urn:xmpp:sid:0")?.attrs.id ?? message.attrs.id ?? "";
