/**
 * A linked device as the server knows it
 * ======================================
 * Its keys, the stanzas that it has not acknowledged, and its connection while there is one.
 */
import type { BinaryNode, proto } from "baileys";
import { bigEndian, bytesOf, child, childrenOf, node, numberOf } from "./nodes.ts";
import type { Bundle } from "./person.ts";

export interface Line {
  send(node: BinaryNode): void;
  /** Cuts it. */
  cut(): void;
}

export class Device {
  readonly jid: string;
  readonly lidJid: string;
  line: Line | null = null;
  /** A device that has just logged in gets nothing until it asks for it. */
  isActive = false;
  /** What waits for an acknowledgement, by id. */
  readonly waiting = new Map<string, BinaryNode>();
  #registrationId = 0;
  #identity: Uint8Array = new Uint8Array(0);
  #signed: Bundle["signed"] | null = null;
  readonly #single: NonNullable<Bundle["single"]>[] = [];

  constructor(jid: string, lidJid: string) {
    this.jid = jid;
    this.lidJid = lidJid;
  }

  get singleCount(): number {
    return this.#single.length;
  }

  get identity(): Uint8Array {
    return this.#identity;
  }

  /** Takes the keys of a registration. */
  register(data: proto.ClientPayload.IDevicePairingRegistrationData): void {
    const { eRegid, eIdent, eSkeyId, eSkeyVal, eSkeySig } = data;
    this.#registrationId = Buffer.from(eRegid as Uint8Array).readUInt32BE();
    this.#identity = eIdent as Uint8Array;
    this.#signed = {
      keyId: Buffer.from(eSkeyId as Uint8Array).readUIntBE(0, 3),
      public: eSkeyVal as Uint8Array,
      signature: eSkeySig as Uint8Array,
    };
  }

  /** Takes the keys of a device that was not linked yet. */
  adopt(other: Device): void {
    this.#registrationId = other.#registrationId;
    this.#identity = other.#identity;
    this.#signed = other.#signed;
  }

  /** Takes an upload of keys. */
  upload(iq: BinaryNode): void {
    this.#registrationId = numberOf(child(iq, "registration"));
    this.#identity = bytesOf(child(iq, "identity"));
    const signed = child(iq, "skey");
    this.#signed = {
      keyId: numberOf(child(signed, "id")),
      public: bytesOf(child(signed, "value")),
      signature: bytesOf(child(signed, "signature")),
    };
    for (const key of childrenOf(child(iq, "list")))
      this.#single.push({
        keyId: numberOf(child(key, "id")),
        public: bytesOf(child(key, "value")),
      });
  }

  /** Its keys, with one that is given out once. */
  bundle(): Bundle {
    if (this.#signed === null) throw new Error("the device has no keys yet");
    const single = this.#single.shift();
    return {
      registrationId: this.#registrationId,
      identity: this.#identity,
      signed: this.#signed,
      single,
    };
  }

  /** Delivers now, or when it is back. */
  deliver(stanza: BinaryNode): void {
    this.waiting.set(stanza.attrs.id as string, stanza);
    if (this.isActive) this.line?.send(stanza);
  }

  /** What it missed, marked as such, and how much that was. */
  sendMissed(): void {
    this.isActive = true;
    for (const stanza of this.waiting.values())
      this.line?.send({ ...stanza, attrs: { ...stanza.attrs, offline: "0" } });
    this.line?.send(
      node("ib", { from: "s.whatsapp.net" }, [
        node("offline", { count: String(this.waiting.size) }),
      ]),
    );
  }
}

/** A device's keys as an answer shows them. */
export const bundleNode = (jid: string, { registrationId, identity, signed, single }: Bundle) =>
  node("user", { jid }, [
    node("registration", {}, bigEndian(registrationId, 4)),
    node("type", {}, Buffer.from([5])),
    node("identity", {}, identity),
    node("skey", {}, [
      node("id", {}, bigEndian(signed.keyId, 3)),
      node("value", {}, signed.public),
      node("signature", {}, signed.signature),
    ]),
    ...(single === undefined
      ? []
      : [
          node("key", {}, [
            node("id", {}, bigEndian(single.keyId, 3)),
            node("value", {}, single.public),
          ]),
        ]),
  ]);
