/**
 * Linking a device, the side of the phone and the server
 * ======================================================
 * By a picture, the phone reads the device's keys and a secret; by a code of eight letters, both agree on
 * keys that the code encrypts. Then the account signs the device's identity (WAProto.proto,
 * ADVSignedDeviceIdentityHMAC; "Multi-device" in https://www.whatsapp.com/security/WhatsApp-Security-Whitepaper.pdf)
 * and the device countersigns.
 */
import { randomBytes } from "node:crypto";
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  type BinaryNode,
  Curve,
  derivePairingCodeKey,
  hkdf,
  hmacSign,
  proto,
} from "baileys";
import type { Device } from "./device.ts";
import { bytesOf, child, node, server } from "./nodes.ts";
import type { Person } from "./person.ts";

export const refs = (): BinaryNode =>
  node("iq", { from: server, type: "set", id: "pair-1" }, [
    node(
      "pair-device",
      {},
      Array.from({ length: 6 }, () =>
        node("ref", {}, Buffer.from(`2@${randomBytes(24).toString("base64")}`)),
      ),
    ),
  ]);

/** What the picture says. */
export function scanned(text: string): { readonly identity: Buffer; readonly secret: Buffer } {
  const [, noise = "", identity = "", secret = ""] = (text.split("#")[1] ?? text).split(",");
  if (Buffer.from(noise, "base64").length !== 32) throw new Error("the picture has no key");
  return { identity: Buffer.from(identity, "base64"), secret: Buffer.from(secret, "base64") };
}

/** The account's confirmation of a device. */
export function confirmation(owner: Person, device: Device, secret: Uint8Array): BinaryNode {
  const key = owner.creds.signedIdentityKey;
  const details = proto.ADVDeviceIdentity.encode({
    rawId: 1,
    timestamp: Math.floor(Date.now() / 1_000),
    keyIndex: 1,
    deviceType: proto.ADVEncryptionType.E2EE,
  }).finish();
  const signed = Buffer.concat([Buffer.from([6, 0]), details, device.identity]);
  const identity = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey: key.public,
    accountSignature: Curve.sign(key.private, signed),
  }).finish();
  const whole = proto.ADVSignedDeviceIdentityHMAC.encode({
    details: identity,
    hmac: hmacSign(identity, secret),
  }).finish();
  return node("iq", { from: server, type: "set", id: "pair-2", t: seconds() }, [
    node("pair-success", {}, [
      node("device-identity", {}, whole),
      node("device", { jid: device.jid, lid: device.lidJid }),
      node("platform", { name: "android" }),
    ]),
  ]);
}

/** Whether the device signed what the account confirmed. */
export function isCountersigned(owner: Person, device: Device, reply: BinaryNode): boolean {
  const signed = child(child(reply, "pair-device-sign"), "device-identity");
  const { details, deviceSignature } = proto.ADVSignedDeviceIdentity.decode(bytesOf(signed));
  const said = Buffer.concat([
    Buffer.from([6, 1]),
    details as Uint8Array,
    device.identity,
    owner.creds.signedIdentityKey.public,
  ]);
  return Curve.verify(device.identity, said, deviceSignature as Uint8Array);
}

const seconds = () => String(Math.floor(Date.now() / 1_000));

/** Linking by a code, after the device has asked for it. */
export class CodePairing {
  readonly #owner: Person;
  readonly #hello: BinaryNode;
  readonly #own = Curve.generateKeyPair();
  readonly #ref = randomBytes(16);

  constructor(owner: Person, hello: BinaryNode) {
    this.#owner = owner;
    this.#hello = child(hello, "link_code_companion_reg");
  }

  /** What the phone sends when somebody has typed the code into it. */
  async entered(code: string): Promise<BinaryNode> {
    this.#companion = await this.#companionKey(code);
    const salt = randomBytes(32);
    const iv = randomBytes(16);
    const key = await derivePairingCodeKey(code, salt);
    const wrapped = Buffer.concat([salt, iv, aesEncryptCTR(this.#own.public, key, iv)]);
    const identity = this.#owner.creds.signedIdentityKey.public;
    return node("notification", { from: server, type: "link_code_companion_reg", id: "code-1" }, [
      node("link_code_companion_reg", { stage: "primary_hello" }, [
        node("link_code_pairing_wrapped_primary_ephemeral_pub", {}, wrapped),
        node("primary_identity_pub", {}, identity),
        node("link_code_pairing_ref", {}, this.#ref),
      ]),
    ]);
  }

  /** The secret that the phone confirms the device with, from the device's last message. */
  finish(iq: BinaryNode): Buffer {
    const said = child(iq, "link_code_companion_reg");
    const bundle = bytesOf(child(said, "link_code_pairing_wrapped_key_bundle"));
    const companion = this.#companion;
    const shared = Curve.sharedKey(this.#own.private, companion);
    const key = hkdf(shared, 32, {
      salt: bundle.subarray(0, 32),
      info: "link_code_pairing_key_bundle_encryption_key",
    });
    const plain = aesDecryptGCM(
      bundle.subarray(44),
      key,
      bundle.subarray(32, 44),
      new Uint8Array(0),
    );
    const identity = plain.subarray(0, 32);
    const random = plain.subarray(64, 96);
    const own = this.#owner.creds.signedIdentityKey.private;
    const secret = Buffer.concat([shared, Curve.sharedKey(own, identity), random]);
    return Buffer.from(hkdf(secret, 32, { info: "adv_secret" }));
  }

  #companion: Uint8Array = new Uint8Array(0);

  async #companionKey(code: string): Promise<Uint8Array> {
    const wrapped = bytesOf(
      child(this.#hello, "link_code_pairing_wrapped_companion_ephemeral_pub"),
    );
    const key = await derivePairingCodeKey(code, wrapped.subarray(0, 32));
    return aesDecryptCTR(wrapped.subarray(48, 80), key, wrapped.subarray(32, 48));
  }
}
