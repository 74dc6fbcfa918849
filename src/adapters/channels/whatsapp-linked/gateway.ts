/**
 * The life of a linked account
 * ============================
 * Waits until the account is linked (another process may do that: link.ts), connects, and connects again
 * when the connection ends. It halts when a person has to act: the device was logged out, another program
 * has its keys, the number is another one than the config's.
 */
import type { AuthenticationCreds, GroupMetadata } from "baileys";
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { backOff, pauseFor } from "../../../domain/ports/pause.ts";
import type { LinkedAccountConfig } from "./config.ts";
import { type Connection, connect } from "./connection.ts";
import { Delivery } from "./delivery.ts";
import { endError, loggedOutCode, notLinked, otherNumber, restartCode } from "./errors.ts";
import { LinkedGroups } from "./groups.ts";
import { jidOf } from "./jid.ts";
import { type Baileys, loadBaileys } from "./library.ts";
import type { LinkedLink } from "./live.ts";
import type { Receiver } from "./normalise.ts";
import { LinkedPeople } from "./people.ts";
import { LinkedStore } from "./store.ts";

type Context = ChannelContext<LinkedAccountConfig>;

const backoff = { msMin: 500, msMax: 60_000 };
/** How often it looks whether the account has been linked. */
const lookMs = 2_000;

/** Whether a phone has confirmed this device. */
export const isLinked = (
  creds: AuthenticationCreds | null,
): creds is AuthenticationCreds & { me: NonNullable<AuthenticationCreds["me"]> } =>
  creds?.me !== undefined && creds.account !== undefined;

/** The folder of the account. @throws EarshotError where nothing is kept */
export function folderOf({ folder }: Pick<Context, "folder">): string {
  if (folder !== undefined) return folder;
  throw new EarshotError(
    "EAR_CHANNEL_CONFIG",
    "Cannot connect to WhatsApp: there is no folder for the keys of this device. Run it in a daemon with " +
      "a state directory",
  );
}

/** Receives until the signal aborts. Rejects when a person has to act. */
export async function receive(context: Context, link: LinkedLink, signal: AbortSignal) {
  const baileys = await loadBaileys();
  const store = new LinkedStore(folderOf(context), baileys);
  const run = new Run(baileys, store, context, link, signal);
  let failures = 0;
  try {
    while (!signal.aborted) {
      const error = await run.next();
      if (signal.aborted) break;
      if (error === null) failures = 0;
      else {
        if (error.disposition === "terminal") throw error;
        context.reportState("backing-off", error.message);
        if (run.pauseMs === null) await backOff(context, backoff, failures, signal);
        else await pauseFor(context.clock, run.pauseMs, signal);
        failures = run.wasLive ? 1 : failures + 1;
        if (!signal.aborted && run.pauseMs === null)
          context.reportState(run.wasEverLive ? "resuming" : "connecting");
      }
    }
  } finally {
    await run.end();
    store.close();
  }
}

class Run {
  /** Whether the last connection got as far as receiving. */
  wasLive = false;
  wasEverLive = false;
  /** ms; what to wait before the next try. Null: as long as after a failure. */
  pauseMs: number | null = null;
  readonly #baileys: Baileys;
  readonly #store: LinkedStore;
  readonly #context: Context;
  readonly #link: LinkedLink;
  readonly #signal: AbortSignal;
  readonly #people: LinkedPeople;
  readonly #groups: LinkedGroups;
  readonly #delivery: Delivery;

  constructor(
    baileys: Baileys,
    store: LinkedStore,
    context: Context,
    link: LinkedLink,
    signal: AbortSignal,
  ) {
    this.#baileys = baileys;
    this.#store = store;
    this.#context = context;
    this.#link = link;
    this.#signal = signal;
    this.#people = new LinkedPeople(store);
    this.#groups = new LinkedGroups(this.#people);
    const receiver: Receiver = {
      account: context.accountId,
      people: this.#people,
      groupOf: (id) => this.#groupOf(id),
    };
    this.#delivery = new Delivery(baileys, store, context, receiver, signal);
  }

  /** One connection, from its begin to its end; resolves to why it ended, null: to connect again. */
  async next(): Promise<EarshotError | null> {
    this.wasLive = false;
    this.pauseMs = null;
    const creds = this.#store.creds();
    if (!isLinked(creds) || this.#store.isHeld(this.#context.clock.now())) {
      this.pauseMs = lookMs;
      return notLinked();
    }
    const { number } = this.#context.config;
    const { user } = jidOf(creds.me.id);
    if (user !== number) return otherNumber(user, number);
    if (this.#store.hasEnded()) return endError(loggedOutCode);
    await this.#identify(creds.me);
    this.#delivery.wake();
    const connection = this.#connect(creds);
    const stop = () => void connection.close();
    this.#signal.addEventListener("abort", stop, { once: true });
    if (this.#signal.aborted) stop();
    try {
      const code = await connection.ended;
      if (code === loggedOutCode) this.#store.end();
      return code === restartCode ? null : endError(code);
    } finally {
      this.#signal.removeEventListener("abort", stop);
      this.#groups.ask = null;
      this.#link.live = null;
      await connection.close();
    }
  }

  /** Resolves when nothing goes on any more. */
  end(): Promise<void> {
    return this.#delivery.settled();
  }

  async #identify({ id, lid }: { readonly id: string; readonly lid?: string }): Promise<void> {
    const { user } = jidOf(id);
    const people = this.#people;
    if (people.self === "") await this.#context.loadCursor(user);
    people.self = user;
    people.selfLid = lid === undefined ? "" : jidOf(lid).user;
  }

  #connect(creds: AuthenticationCreds): Connection {
    const baileys = this.#baileys;
    const store = this.#store;
    const groups = this.#groups;
    const people = this.#people;
    const { config, log, reportState } = this.#context;
    const connection = connect(
      { baileys, store, config, groups, creds },
      {
        onOpen: () => {
          groups.ask = (id) => connection.socket.groupMetadata(id);
          this.#link.live = { baileys, connection, store, people, groups };
          this.wasLive = true;
          this.wasEverLive = true;
          reportState("live");
        },
        onQr: () => undefined,
        onPaired: () => undefined,
        onStored: () => this.#delivery.wake(),
        onUnreadable: () => log("warn", "whatsapp-linked.unreadable", { what: "cipher" }),
      },
    );
    return connection;
  }

  /** What a group is called and who is in it is no reason to lose a message. */
  async #groupOf(id: string): Promise<GroupMetadata | null> {
    try {
      return await this.#groups.of(id);
    } catch (error) {
      const why = error instanceof Error ? error.message : "unknown";
      this.#context.log("debug", "whatsapp-linked.group-unknown", { why });
      return null;
    }
  }
}
