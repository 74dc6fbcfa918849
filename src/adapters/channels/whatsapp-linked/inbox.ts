/**
 * Durable before it is acknowledged
 * =================================
 * The library acknowledges a message as soon as it has decrypted it, and its event comes later. So what
 * was decrypted is stored by the same commit as the session that decrypted it, from inside the library's
 * transaction; delivering begins there, and a crash after it loses nothing. Sessions are also committed
 * before anything is sent with them, although the library sends from inside a transaction: a counter that
 * was used twice would be unreadable.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import type {
  BinaryNode,
  SignalDataSet,
  SignalKeyStoreWithTransaction,
  SocketConfig,
} from "baileys";
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Baileys } from "./library.ts";
import { base64, inboxType, type LinkedStore } from "./store.ts";

type MakeRepository = SocketConfig["makeSignalRepository"];

export interface Inboxed {
  readonly make: MakeRepository;
  /** Takes a stanza, before the library does: it will be decrypted next. */
  expect(stanza: BinaryNode): void;
}

interface Hooks {
  /** Something waits to be delivered. */
  onStored(): void;
  onUnreadable(stanza: BinaryNode | undefined): void;
}

/** Outside of every transaction of the library's. */
const outside = AsyncLocalStorage.snapshot();

/** The library's own signal repository, with an inbox. */
export function inboxed(baileys: Baileys, store: LinkedStore, hooks: Hooks): Inboxed {
  const stanzas = new LRUCache<string, BinaryNode>(atMost(limits.linkedReceivedMax));
  const make: MakeRepository = (auth, logger, toLid) => {
    const own = baileys.DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, toLid);
    // The library gives it what has transactions (Socket/socket.js).
    const keys = auth.keys as SignalKeyStoreWithTransaction;
    const read = async (
      cipher: Uint8Array,
      place: string,
      decrypt: () => Promise<Uint8Array>,
    ): Promise<Uint8Array> => {
      const digest = digestOf(cipher);
      const known = store.receivedAgain(digest);
      if (known !== null) {
        hooks.onStored();
        return known;
      }
      const stanza = stanzas.get(digest);
      stanzas.delete(digest);
      try {
        const plain = await keys.transaction(async () => {
          const content = await decrypt();
          if (stanza !== undefined) {
            const node = base64(baileys.encodeBinaryNode(stanza));
            const received = { [inboxType]: { [digest]: { node, plain: base64(content) } } };
            await keys.set(received as SignalDataSet);
          }
          return content;
        }, place);
        hooks.onStored();
        return plain;
      } catch (error) {
        hooks.onUnreadable(stanza);
        throw error;
      }
    };
    return {
      ...own,
      decryptMessage: (options) =>
        outside(() => read(options.ciphertext, options.jid, () => own.decryptMessage(options))),
      decryptGroupMessage: (options) =>
        outside(() => read(options.msg, options.group, () => own.decryptGroupMessage(options))),
      encryptMessage: (options) => outside(() => own.encryptMessage(options)),
      encryptGroupMessage: (options) => outside(() => own.encryptGroupMessage(options)),
      injectE2ESession: (options) => outside(() => own.injectE2ESession(options)),
      deleteSession: (jids) => outside(() => own.deleteSession(jids)),
      migrateSession: (from, to) => outside(() => own.migrateSession(from, to)),
    };
  };
  return {
    make,
    expect(stanza) {
      if (!Array.isArray(stanza.content)) return;
      for (const { tag, content } of stanza.content)
        if (tag === "enc" && content instanceof Uint8Array) stanzas.set(digestOf(content), stanza);
    },
  };
}

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64");
