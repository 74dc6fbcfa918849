/**
 * The server's side of WhatsApp Web's transport
 * =============================================
 * Noise_XX_25519_AESGCM_SHA256 (https://noiseprotocol.org/noise.html, sections 5 and 7.5) with the
 * prologue "WA", 6, 3; the certificate of the server's static key travels in the second message, signed by
 * an intermediate, signed by a root that clients have. Then frames with a length of three bytes. The
 * messages of the handshake and the certificate are those of the library's WAProto.proto
 * (HandshakeMessage, CertChain); its key pairs and ciphers are used, its handshake is the other side.
 */
import { aesDecryptGCM, aesEncryptGCM, Curve, hkdf, proto, sha256, WA_CERT_DETAILS } from "baileys";

const mode = Buffer.from("Noise_XX_25519_AESGCM_SHA256\0\0\0\0");
const prologue = Buffer.from([87, 65, 6, 3]);

const root = Curve.generateKeyPair();
const intermediate = Curve.generateKeyPair();
/** The static key of these servers: two signatures for each connection would be most of the handshake. */
const station = Curve.generateKeyPair();
let certificate: Uint8Array | null = null;

/** Clients of this process take the certificates of these servers, and no others. */
export function trustTestServers(): void {
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(root.public);
}

function certificateOf(key: Uint8Array): Uint8Array {
  const { Details } = proto.CertChain.NoiseCertificate;
  const above = Details.encode({ serial: 1, issuerSerial: 0, key: intermediate.public }).finish();
  const leaf = Details.encode({ serial: 2, issuerSerial: 1, key }).finish();
  return proto.CertChain.encode({
    leaf: { details: leaf, signature: Curve.sign(intermediate.private, leaf) },
    intermediate: { details: above, signature: Curve.sign(root.private, above) },
  }).finish();
}

const nonce = (count: number): Uint8Array => {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(count, 8);
  return bytes;
};

/** The symmetric state of the handshake. */
class Handshake {
  hash: Uint8Array = mode;
  #salt: Uint8Array = mode;
  #key: Uint8Array = mode;
  #count = 0;

  mix(data: Uint8Array): void {
    this.hash = sha256(Buffer.concat([this.hash, data]));
  }

  mixKey(secret: Uint8Array): void {
    [this.#salt, this.#key] = this.#expand(secret);
    this.#count = 0;
  }

  encrypt(plain: Uint8Array): Uint8Array {
    const cipher = aesEncryptGCM(plain, this.#key, nonce(this.#count++), this.hash);
    this.mix(cipher);
    return cipher;
  }

  decrypt(cipher: Uint8Array): Uint8Array {
    const plain = aesDecryptGCM(cipher, this.#key, nonce(this.#count++), this.hash);
    this.mix(cipher);
    return plain;
  }

  /** The keys of the client's frames and of the server's. */
  split(): readonly [Uint8Array, Uint8Array] {
    return this.#expand(new Uint8Array(0));
  }

  #expand(secret: Uint8Array): [Uint8Array, Uint8Array] {
    const key = hkdf(Buffer.from(secret), 64, { salt: Buffer.from(this.#salt), info: "" });
    return [key.subarray(0, 32), key.subarray(32)];
  }
}

/** One client's bytes, in and out. */
export class NoiseServer {
  readonly #own = Curve.generateKeyPair();
  readonly #shake = new Handshake();
  #bytes = Buffer.alloc(0);
  #isGreeted = false;
  #keys: readonly [Uint8Array, Uint8Array] | null = null;
  #read = 0;
  #written = 0;

  /** Whole frames of what arrived: those of the handshake as they are, later ones decrypted. */
  frames(data: Buffer): Uint8Array[] {
    this.#bytes = Buffer.concat([this.#bytes, data]);
    if (!this.#isGreeted) {
      const greeting = this.#bytes.subarray(0, prologue.length);
      if (!greeting.equals(prologue)) throw new Error("this is no client of WhatsApp Web");
      this.#bytes = this.#bytes.subarray(prologue.length);
      this.#isGreeted = true;
      this.#shake.mix(prologue);
    }
    const frames: Uint8Array[] = [];
    while (this.#bytes.length >= 3) {
      const length = this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < length + 3) break;
      const frame = this.#bytes.subarray(3, length + 3);
      this.#bytes = this.#bytes.subarray(length + 3);
      const key = this.#keys?.[0];
      const count = this.#read;
      if (key !== undefined) this.#read += 1;
      frames.push(
        key === undefined ? frame : aesDecryptGCM(frame, key, nonce(count), new Uint8Array(0)),
      );
    }
    return frames;
  }

  /** Answers the first message of the handshake. */
  hello(frame: Uint8Array): Uint8Array {
    const ephemeral = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral as Uint8Array;
    const shake = this.#shake;
    shake.mix(ephemeral);
    shake.mix(this.#own.public);
    shake.mixKey(Curve.sharedKey(this.#own.private, ephemeral));
    const staticKey = shake.encrypt(station.public);
    shake.mixKey(Curve.sharedKey(station.private, ephemeral));
    certificate ??= certificateOf(station.public);
    const payload = shake.encrypt(certificate);
    return proto.HandshakeMessage.encode({
      serverHello: { ephemeral: this.#own.public, static: staticKey, payload },
    }).finish();
  }

  /** Reads the last message of the handshake: who logs in, or wants to be linked. */
  finish(frame: Uint8Array): proto.ClientPayload {
    const { clientFinish } = proto.HandshakeMessage.decode(frame);
    const theirs = this.#shake.decrypt(clientFinish?.static as Uint8Array);
    this.#shake.mixKey(Curve.sharedKey(this.#own.private, theirs));
    const payload = this.#shake.decrypt(clientFinish?.payload as Uint8Array);
    this.#keys = this.#shake.split();
    return proto.ClientPayload.decode(payload);
  }

  /** A frame for the client. */
  framed(data: Uint8Array): Buffer {
    const key = this.#keys?.[1];
    const body =
      key === undefined
        ? data
        : aesEncryptGCM(data, key, nonce(this.#written++), new Uint8Array(0));
    const length = Buffer.alloc(3);
    length.writeUIntBE(body.length, 0, 3);
    return Buffer.concat([length, body]);
  }
}
