/**
 * A server of WhatsApp Web on loopback
 * ====================================
 * Speaks the real protocol over a WebSocket to linked devices of one account: the Noise handshake with a
 * certificate (noise.ts), binary stanzas (the library's WABinary; its format is described in
 * https://github.com/sigalor/whatsapp-web-reveng), linking by picture and code (pairing.ts), pre-keys,
 * devices and groups (queries.ts), messages encrypted for each device, sender keys, receipts, acks and
 * stream errors. What a device has not acknowledged comes again when it is back.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type BinaryNode, decodeBinaryNode, encodeBinaryNode, type proto } from "baileys";
import { type WebSocket, WebSocketServer } from "ws";
import { Device, type Line } from "./device.ts";
import { FileHost } from "./file-host.ts";
import { childrenOf, node, resultOf, server } from "./nodes.ts";
import { NoiseServer, trustTestServers } from "./noise.ts";
import { CodePairing, confirmation, isCountersigned, refs, scanned } from "./pairing.ts";
import { Person } from "./person.ts";
import { answer, type Directory, type Group } from "./queries.ts";
import { type Outgoing, opened } from "./sent.ts";

/** What happens with the next message of a device. */
export type SendFault = { readonly refuse: string } | "lose" | "cut";

/** A device that nobody has confirmed yet. */
interface Unlinked {
  readonly device: Device;
  readonly line: Line;
}

export class WebServer implements Directory {
  readonly owner: Person;
  readonly people: Person[] = [];
  readonly groups: Group[] = [];
  readonly devices: Device[] = [];
  /** What devices have sent, as the phones of those who got it show it. */
  readonly sent: Outgoing[] = [];
  /** Chats in which typing was shown. */
  readonly typings: string[] = [];
  readonly receipts: BinaryNode[] = [];
  readonly files = new FileHost();
  readonly sendFaults: SendFault[] = [];
  /** The code with which logins are refused. */
  refuses: number | null = null;
  readonly #sockets = new Set<WebSocket>();
  readonly #watching = new Set<() => void>();
  readonly #codes = new Map<string, CodePairing>();
  readonly #unlinked: Unlinked[] = [];
  #http: Server | null = null;
  #port = 0;
  #ids = 0;

  constructor(owner: Person) {
    trustTestServers();
    this.owner = owner;
    this.people.push(owner);
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#port}/ws/chat`;
  }

  get mediaUrl(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  person(number: string, lid: string, name: string): Person {
    const person = new Person(number, lid, name);
    this.people.push(person);
    return person;
  }

  group(subject: string, members: Person[]): Group {
    const group = { id: `1203630${1_000_000 + this.groups.length}@g.us`, subject, members };
    this.groups.push(group);
    return group;
  }

  /** A device of the owner's that has been linked before. */
  addDevice(id: number): Device {
    const { number, lid } = this.owner;
    const device = new Device(`${number}:${id}@${server}`, `${lid}:${id}@lid`);
    this.devices.push(device);
    return device;
  }

  async up(): Promise<void> {
    const http = createServer((request, response) => {
      this.files.serve(request, response).catch(() => response.destroy());
    });
    const sockets = new WebSocketServer({ server: http });
    sockets.on("connection", (socket) => this.#accept(socket));
    await new Promise<void>((resolve) => http.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (http.address() as AddressInfo).port;
    this.#http = http;
  }

  /** Cuts every connection; nobody can connect any more. */
  async down(): Promise<void> {
    const http = this.#http;
    this.#http = null;
    for (const socket of this.#sockets) socket.terminate();
    for (const device of this.devices) device.line = null;
    if (http !== null) await new Promise<void>((resolve) => http.close(() => resolve()));
  }

  newId(): string {
    this.#ids += 1;
    return `3A${String(this.#ids).padStart(18, "0")}`;
  }

  /** Resolves when it holds, now or after something that a device sends. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds()) return;
        this.#watching.delete(look);
        resolve();
      };
      this.#watching.add(look);
      look();
    });
  }

  /** A device's stream ends with an error: 515, 440 (`conflict`), 401 (`device_removed`). */
  endStream(code: number): void {
    const kind = code === 440 ? "replaced" : code === 401 ? "device_removed" : null;
    const conflict = kind === null ? [] : [node("conflict", { type: kind })];
    for (const { line } of this.devices) {
      line?.send(node("stream:error", { code: String(code) }, conflict));
      line?.cut();
    }
  }

  /** A phone reads the picture. */
  scan(text: string, id = 9): Device {
    const { identity, secret } = scanned(text);
    const at = this.#unlinked.find(({ device }) => Buffer.from(device.identity).equals(identity));
    if (at === undefined) throw new Error("nobody shows this picture");
    return this.#confirm(at, secret, id);
  }

  /** Somebody types a code into the phone of the number. */
  async enter(number: string, code: string): Promise<void> {
    await this.until(() => this.#codes.has(number));
    const notification = await (this.#codes.get(number) as CodePairing).entered(code);
    for (const { line } of this.#unlinked) line.send(notification);
  }

  #confirm({ device: seen, line }: Unlinked, secret: Uint8Array, id: number): Device {
    const device = this.addDevice(id);
    device.adopt(seen);
    device.line = line;
    line.send(confirmation(this.owner, device, secret));
    return device;
  }

  #accept(socket: WebSocket): void {
    this.#sockets.add(socket);
    const noise = new NoiseServer();
    const line = {
      send: (stanza: BinaryNode) => socket.send(noise.framed(encodeBinaryNode(stanza))),
      cut: () => socket.close(),
    };
    let device: Device | null = null;
    let step = 0;
    let queue = Promise.resolve();
    const take = async (frame: Uint8Array) => {
      step += 1;
      if (step === 1) socket.send(noise.framed(noise.hello(frame)));
      else if (step === 2) device = this.#login(noise.finish(frame), line);
      else if (device !== null) {
        const stanza = await decodeBinaryNode(Buffer.from(frame));
        await this.#take(device, line, stanza);
        for (const look of [...this.#watching]) look();
      }
    };
    socket.on("message", (data: Buffer) => {
      for (const frame of noise.frames(data)) queue = queue.then(() => take(frame));
      queue.catch((error: unknown) => {
        socket.terminate();
        throw error;
      });
    });
    socket.on("close", () => {
      this.#sockets.delete(socket);
      for (const one of this.devices) if (one.line === line) one.line = null;
    });
  }

  #login(payload: proto.ClientPayload, line: Line): Device | null {
    const { devicePairingData: registration } = payload;
    if (registration) {
      const device = new Device("", "");
      device.register(registration);
      this.#unlinked.push({ device, line });
      line.send(refs());
      return device;
    }
    const jid = `${String(payload.username)}:${payload.device}@${server}`;
    const device = this.devices.find((one) => one.jid === jid);
    if (device === undefined || this.refuses !== null) {
      line.send(node("failure", { reason: String(this.refuses ?? 401) }));
      line.cut();
      return null;
    }
    // The newer connection of a device takes the place of the older one.
    device.line?.send(node("stream:error", {}, [node("conflict", { type: "replaced" })]));
    device.line?.cut();
    device.line = line;
    device.isActive = false;
    const t = String(Math.floor(Date.now() / 1_000));
    line.send(node("success", { t, lid: device.lidJid }));
    return device;
  }

  async #take(device: Device, line: Line, stanza: BinaryNode) {
    const { tag, attrs } = stanza;
    if (tag === "iq") await this.#query(device, line, stanza);
    else if (tag === "message") await this.#message(device, line, stanza);
    else if (tag === "receipt" || (tag === "ack" && attrs.class === "message")) {
      this.receipts.push(stanza);
      device.waiting.delete(attrs.id as string);
      if (tag === "receipt")
        line.send(node("ack", { class: "receipt", id: attrs.id, from: server }));
    } else if (tag === "chatstate" && childrenOf(stanza)[0]?.tag === "composing")
      this.typings.push(attrs.to as string);
  }

  async #query(device: Device, line: Line, iq: BinaryNode): Promise<void> {
    const [asked] = childrenOf(iq);
    if (iq.attrs.type === "result") {
      if (asked?.tag !== "pair-device-sign") return;
      const linked = this.devices.find((one) => one.line === line) as Device;
      if (!isCountersigned(this.owner, linked, iq)) throw new Error("a wrong signature");
      line.send(node("stream:error", { code: "515" }));
      line.cut();
    } else if (asked?.tag === "remove-companion-device") {
      this.devices.splice(this.devices.indexOf(device), 1);
      line.send(resultOf(iq));
      line.cut();
    } else if (asked?.tag === "link_code_companion_reg") {
      const number = (asked.attrs.jid as string).split("@")[0] as string;
      line.send(resultOf(iq));
      if (asked.attrs.stage === "companion_hello")
        this.#codes.set(number, new CodePairing(this.owner, iq));
      else {
        const secret = (this.#codes.get(number) as CodePairing).finish(iq);
        const at = this.#unlinked.find((one) => one.line === line);
        if (at !== undefined) this.#confirm(at, secret, 9);
      }
    } else {
      line.send(answer(this, device, iq));
      if (iq.attrs.xmlns === "passive" && asked?.tag === "active") device.sendMissed();
    }
  }

  async #message(device: Device, line: Line, stanza: BinaryNode) {
    const { attrs } = stanza;
    const fault = this.sendFaults.shift();
    const ack = { class: "message", id: attrs.id, from: attrs.to, t: "1" };
    if (typeof fault === "object") {
      line.send(node("ack", { ...ack, error: fault.refuse }));
      return;
    }
    const outgoing = await opened(this, device, stanza);
    // Programs show a message of one id once.
    if (!this.sent.some(({ id }) => id === outgoing.id)) this.sent.push(outgoing);
    if (fault === "cut") line.cut();
    else if (fault !== "lose") line.send(node("ack", ack));
  }
}
