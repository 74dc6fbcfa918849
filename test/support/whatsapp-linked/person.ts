/**
 * A phone of WhatsApp's
 * =====================
 * A person with a number, a lid and Signal keys (https://signal.org/docs/specifications/doubleratchet/,
 * .../x3dh/): encrypts for the linked device and decrypts what it sends. Keys are in memory, and the Signal
 * implementation is the library's.
 */
import {
  type AuthenticationCreds,
  addTransactionCapability,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  generateSignalPubKey,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalKeyStore,
  unpadRandomMax16,
} from "baileys";
import { silent } from "../../../src/adapters/channels/whatsapp-linked/library.ts";

/** What a device shows of its keys, to be written to. */
export interface Bundle {
  readonly registrationId: number;
  readonly identity: Uint8Array;
  readonly signed: {
    readonly keyId: number;
    readonly public: Uint8Array;
    readonly signature: Uint8Array;
  };
  readonly single?: { readonly keyId: number; readonly public: Uint8Array } | undefined;
}

function memory(): SignalKeyStore {
  const values = new Map<string, unknown>();
  return {
    get: ((type: string, ids: string[]) =>
      Object.fromEntries(
        ids.flatMap((id) => {
          const value = values.get(`${type}/${id}`);
          return value === undefined ? [] : [[id, value]];
        }),
      )) as SignalKeyStore["get"],
    set(data: SignalDataSet) {
      for (const [type, entries] of Object.entries(data))
        for (const [id, value] of Object.entries(entries ?? {}))
          if (value === null) values.delete(`${type}/${id}`);
          else values.set(`${type}/${id}`, value);
    },
  };
}

/** By number: a phone keeps its keys, and making and signing them takes 10 ms. */
const known = new Map<string, AuthenticationCreds>();

function credsOf(number: string): AuthenticationCreds {
  const creds = known.get(number) ?? initAuthCreds();
  known.set(number, creds);
  return creds;
}

const transactions = { maxCommitRetries: 1, delayBetweenTriesMs: 1 };

export class Person {
  readonly number: string;
  readonly lid: string;
  readonly name: string;
  readonly creds: AuthenticationCreds;
  readonly #signal: ReturnType<typeof DEFAULT_CONNECTION_CONFIG.makeSignalRepository>;
  readonly #groups = new Set<string>();

  constructor(number: string, lid: string, name: string) {
    this.number = number;
    this.lid = lid;
    this.name = name;
    this.creds = credsOf(number);
    this.#signal = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
      {
        creds: this.creds,
        keys: addTransactionCapability(memory(), silent, transactions),
      },
      silent,
      async () => undefined,
    );
  }

  get jid(): string {
    return `${this.number}@s.whatsapp.net`;
  }

  get lidJid(): string {
    return `${this.lid}@lid`;
  }

  bundle(): Bundle {
    const { registrationId, signedIdentityKey, signedPreKey } = this.creds;
    const { keyId, keyPair, signature } = signedPreKey;
    const signed = { keyId, public: keyPair.public, signature };
    return { registrationId, identity: signedIdentityKey.public, signed };
  }

  /** A message for one device. @param bundle asks for its keys, when there is no session yet */
  async encrypt(device: string, message: proto.IMessage, bundle: () => Bundle) {
    const { exists } = await this.#signal.validateSession(device);
    if (!exists) await this.#begin(device, bundle());
    return this.#signal.encryptMessage({ jid: device, data: encodeWAMessage(message) });
  }

  /** A message for a group; `key` is what a device needs first, null when it has it. */
  async encryptGroup(group: string, message: proto.IMessage) {
    const { ciphertext, senderKeyDistributionMessage } = await this.#signal.encryptGroupMessage({
      group,
      meId: this.jid,
      data: encodeWAMessage(message),
    });
    const isFirst = !this.#groups.has(group);
    this.#groups.add(group);
    const item = {
      groupId: group,
      axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage,
    };
    return { ciphertext, key: isFirst ? item : null };
  }

  async decrypt(device: string, type: "pkmsg" | "msg", ciphertext: Uint8Array) {
    const plain = await this.#signal.decryptMessage({ jid: device, type, ciphertext });
    const message = proto.Message.decode(unpadRandomMax16(plain));
    const item = message.senderKeyDistributionMessage;
    if (item) await this.#signal.processSenderKeyDistributionMessage({ authorJid: device, item });
    return message;
  }

  async decryptGroup(group: string, device: string, msg: Uint8Array) {
    const plain = await this.#signal.decryptGroupMessage({ group, authorJid: device, msg });
    return proto.Message.decode(unpadRandomMax16(plain));
  }

  /** As a phone that was set up from the start: the next message begins another session. */
  forget(device: string): Promise<void> {
    return this.#signal.deleteSession([device]);
  }

  async #begin(device: string, { registrationId, identity, signed, single }: Bundle) {
    await this.#signal.injectE2ESession({
      jid: device,
      session: {
        registrationId,
        identityKey: generateSignalPubKey(identity),
        signedPreKey: {
          keyId: signed.keyId,
          publicKey: generateSignalPubKey(signed.public),
          signature: signed.signature,
        },
        ...(single !== undefined && {
          preKey: { keyId: single.keyId, publicKey: generateSignalPubKey(single.public) },
        }),
      },
    });
  }
}
