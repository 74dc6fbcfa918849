/**
 * Linking an account
 * ==================
 * A person confirms this device on the phone, by a code of eight letters or by a picture; both are secrets,
 * which only the caller gets to see. After that WhatsApp closes the connection, and the first login
 * uploads the device's keys; it is made here, before a daemon that waits for this account may connect.
 */
import type { AuthenticationCreds } from "baileys";
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext, ChannelIdentity, LinkRequest } from "../../../domain/ports/index.ts";
import type { LinkedAccountConfig } from "./config.ts";
import { type Connection, type ConnectionEvents, connect } from "./connection.ts";
import { endError, loggedOutCode, otherNumber, restartCode } from "./errors.ts";
import { folderOf, isLinked } from "./gateway.ts";
import { LinkedGroups } from "./groups.ts";
import { jidOf } from "./jid.ts";
import { type Baileys, loadBaileys } from "./library.ts";
import { LinkedPeople } from "./people.ts";
import { LinkedStore } from "./store.ts";

type Context = Pick<ChannelContext<LinkedAccountConfig>, "clock" | "config" | "folder">;

/** How long a daemon keeps away from an account that is being linked, ms. */
const linkingMsMax = 600_000;
const codeUnits = 4;

/** @throws EarshotError when nobody confirms, the wrong number does, or the account is linked already */
export async function linkAccount(
  context: Context,
  request: LinkRequest,
): Promise<ChannelIdentity> {
  const baileys = await loadBaileys();
  const store = new LinkedStore(folderOf(context), baileys);
  try {
    const before = store.creds();
    if (isLinked(before) && !store.hasEnded() && !request.again)
      throw new EarshotError(
        "EAR_USAGE",
        `Cannot link this account: it is linked, to +${jidOf(before.me.id).user}. Log the device out on ` +
          "the phone first, or stop earshot and use --again",
      );
    store.clear();
    store.holdUntil(context.clock.now() + linkingMsMax);
    const linking = new Linking(baileys, store, context, request);
    try {
      return await linking.run();
    } catch (error) {
      store.clear();
      throw error;
    }
  } finally {
    store.holdUntil(null);
    store.close();
  }
}

/** Who the account is, and whether it is linked. Nothing is asked: a second connection would end the first. */
export async function identityOf({ config, folder }: Context): Promise<ChannelIdentity> {
  const { number } = config;
  const baileys = await loadBaileys();
  const known = { id: number, name: `+${number}` };
  const hint = "It is not linked yet: earshot channels link whatsapp-linked";
  if (folder === undefined || !LinkedStore.isThere(folder)) return { ...known, notes: [hint] };
  const store = new LinkedStore(folder, baileys);
  try {
    const creds = store.creds();
    if (!isLinked(creds)) return { ...known, notes: [hint] };
    const { user } = jidOf(creds.me.id);
    if (user !== number) throw otherNumber(user, number);
    if (store.hasEnded()) throw endError(loggedOutCode);
    return { id: number, name: creds.me.name || known.name };
  } finally {
    store.close();
  }
}

class Linking {
  readonly #baileys: Baileys;
  readonly #store: LinkedStore;
  readonly #config: LinkedAccountConfig;
  readonly #request: LinkRequest;
  readonly #creds: AuthenticationCreds;
  /** WhatsApp waits for a phone. */
  #isAsked = false;
  #isPaired = false;
  #isOpen = false;

  constructor(baileys: Baileys, store: LinkedStore, { config }: Context, request: LinkRequest) {
    this.#baileys = baileys;
    this.#store = store;
    this.#config = config;
    this.#request = request;
    this.#creds = baileys.initAuthCreds();
  }

  async run(): Promise<ChannelIdentity> {
    // The first connection ends when the phone has confirmed, the second one has logged in.
    const first = await this.#connection();
    if (!this.#isPaired || first !== restartCode) throw this.#notConfirmed(first);
    const { number } = this.#config;
    const linked = jidOf(this.#creds.me?.id ?? "").user;
    const second = await this.#connection();
    if (!this.#isOpen) throw endError(second);
    if (linked !== number) throw otherNumber(linked, number);
    return { id: number, name: this.#creds.me?.name || `+${number}` };
  }

  #notConfirmed(code: number | null): EarshotError {
    if (this.#request.signal.aborted)
      return new EarshotError("EAR_USAGE", "Cannot link this account: it was cancelled");
    // The library has the same code for a line that it could not open.
    if (code === 408)
      return new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        this.#isAsked
          ? "Cannot link this account: nobody confirmed it on the phone in time. Run it again"
          : "Cannot link this account: WhatsApp cannot be reached. Check the network, and run it again",
      );
    return endError(code);
  }

  /** Resolves to the code of the connection's end. */
  async #connection(): Promise<number | null> {
    const { signal } = this.#request;
    const events: ConnectionEvents = {
      onQr: (text) => {
        const isFirst = !this.#isAsked;
        this.#isAsked = true;
        if (this.#request.way === "picture") this.#request.show({ kind: "picture", text });
        else if (isFirst) {
          this.#askForCode(connection).catch(() => void connection.close());
        }
      },
      onPaired: () => {
        this.#isPaired = true;
      },
      onOpen: () => {
        this.#isOpen = true;
        void this.#leave(connection);
      },
      // It waits in the store for the daemon.
      onStored: () => undefined,
      onUnreadable: () => undefined,
    };
    const connection = connect(
      {
        baileys: this.#baileys,
        store: this.#store,
        config: this.#config,
        groups: new LinkedGroups(new LinkedPeople(this.#store)),
        creds: this.#creds,
      },
      events,
    );
    const stop = () => void connection.close();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await connection.ended;
    } finally {
      signal.removeEventListener("abort", stop);
      await connection.close();
    }
  }

  async #askForCode({ socket }: Connection): Promise<void> {
    const code = await socket.requestPairingCode(this.#config.number);
    const text = `${code.slice(0, codeUnits)}-${code.slice(codeUnits)}`;
    this.#request.show({ kind: "code", text });
  }

  /** Everything is done; a device of another number is given up. */
  async #leave(connection: Connection): Promise<void> {
    const linked = jidOf(this.#creds.me?.id ?? "").user;
    if (linked === this.#config.number) await connection.close();
    else await connection.socket.logout();
  }
}
