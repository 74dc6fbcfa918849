/**
 * Receiving from WhatsApp
 * =======================
 * Meta posts; this takes what is posted in order, one body after the other, and resolves when it is durable.
 * The messages of one body are put in the order of their times. The number is looked up at the start and
 * every five minutes, and at once after a call that failed: so an expired token is noticed, and so is a
 * platform that is away.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { backOff, pauseFor } from "../../../domain/ports/pause.ts";
import { deliverEach } from "../shared/deliver.ts";
import type { WhatsAppApi } from "./api.ts";
import type { WhatsAppAccountConfig } from "./config.ts";
import { problemText } from "./errors.ts";
import { digitsOf, eventOf, type Receiver } from "./normalise.ts";
import type { WhatsAppPeople } from "./people.ts";
import {
  messageSchema,
  numberSchema,
  postedSchema,
  statusSchema,
  valueSchema,
  type WhatsAppMessage,
  type WhatsAppValue,
} from "./wire.ts";

type Context = ChannelContext<WhatsAppAccountConfig>;

const checkEveryMs = 300_000;
const backoff = { msMin: 1_000, msMax: 60_000 };

/** The account's own number. */
export async function whoAmI(api: WhatsAppApi, phoneNumberId: string, signal: AbortSignal) {
  const path = `${phoneNumberId}?fields=id,display_phone_number,verified_name`;
  const what = "look up the phone number";
  return api.call(path, { kind: "connect", signal, schema: numberSchema, what });
}

export class WhatsAppGateway {
  readonly #api: WhatsAppApi;
  readonly #context: Context;
  readonly #people: WhatsAppPeople;
  readonly #signal: AbortSignal;
  #receiver: Receiver | null = null;
  #last: Promise<unknown> = Promise.resolve();
  /** Ends the pause before the next check. */
  #wake: () => void = () => undefined;

  constructor(api: WhatsAppApi, context: Context, people: WhatsAppPeople, signal: AbortSignal) {
    this.#api = api;
    this.#context = context;
    this.#people = people;
    this.#signal = signal;
  }

  /** Resolves when the signal aborts. @throws EarshotError EAR_CHANNEL_AUTH */
  async run(): Promise<void> {
    const { config, reportState, loadCursor } = this.#context;
    this.#api.onFailure = ({ code }) => {
      if (code === "EAR_CHANNEL_AUTH" || code === "EAR_CHANNEL_UNAVAILABLE") this.#wake();
    };
    reportState("connecting");
    for (let failures = 0; !this.#signal.aborted; ) {
      try {
        const number = await whoAmI(this.#api, config.phoneNumberId, this.#signal);
        if (this.#receiver === null) {
          this.#people.load(await loadCursor(config.phoneNumberId));
          this.#receiver = {
            account: this.#context.accountId,
            self: digitsOf(number.display_phone_number),
            people: this.#people,
          };
        }
        if (failures > 0 || !this.#isLive) reportState("live");
        this.#isLive = true;
        failures = 0;
        await this.#pause(checkEveryMs);
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!(error instanceof EarshotError) || error.disposition === "terminal") throw error;
        this.#isLive = false;
        reportState("backing-off", error.message);
        await backOff(this.#context, backoff, failures, this.#signal, error.retryAfterMs);
        failures += 1;
      }
    }
  }
  #isLive = false;

  /** Resolves when the body is durable. @throws EarshotError of a store that accepts nothing now */
  take(posted: unknown): Promise<void> {
    const work = () => this.#take(posted);
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #take(posted: unknown): Promise<void> {
    const receiver = this.#receiver;
    if (receiver === null || this.#signal.aborted)
      throw new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        "Cannot accept messages: the account is not connected. Send them again",
      );
    const read = postedSchema.safeParse(posted);
    if (!read.success) {
      this.#unreadable("body");
      return;
    }
    for (const { changes } of read.data.entry)
      for (const { field, value } of changes) {
        // Others concern the business account: templates, quality, payment.
        if (field !== "messages") continue;
        const found = valueSchema.safeParse(value);
        if (found.success) await this.#takeValue(found.data, receiver);
        else this.#unreadable("value");
      }
  }

  async #takeValue(value: WhatsAppValue, receiver: Receiver): Promise<void> {
    const { config, log } = this.#context;
    if (value.metadata.phone_number_id !== config.phoneNumberId) {
      log("warn", "whatsapp.other-number", { phoneNumberId: value.metadata.phone_number_id });
      return;
    }
    for (const problem of value.errors ?? []) {
      log("error", "whatsapp.account-error", { code: problem.code });
      this.#context.reportState("live", `WhatsApp reports: ${problemText(problem)}`);
    }
    for (const status of value.statuses ?? []) this.#status(status);
    const events: ChannelEvent[] = [];
    let hasMoved = false;
    for (const message of this.#messagesOf(value)) {
      hasMoved = this.#move(message) || hasMoved;
      const event = eventOf(message, value.contacts ?? [], receiver);
      if (event === null) continue;
      events.push(event);
      if (event.type === "message") this.#people.heard.set(event.message.chat.id, message.id);
    }
    if (events.length === 0 && !hasMoved) return;
    await deliverEach(this.#context, events, { channel: "whatsapp", cursor: this.#people.cursor });
  }

  /** Oldest first; those of one second as they came. */
  #messagesOf({ messages = [] }: WhatsAppValue): readonly WhatsAppMessage[] {
    return messages
      .flatMap((raw) => {
        const read = messageSchema.safeParse(raw);
        if (read.success) return [read.data];
        this.#unreadable("message");
        return [];
      })
      .sort((a, b) => Number(a.timestamp) - Number(b.timestamp));
  }

  /** Notices a change of number; whether there was one. */
  #move({ type, from, system }: WhatsAppMessage): boolean {
    if (type !== "system" || system === undefined) return false;
    const to = system.wa_id ?? system.new_wa_id;
    const { previous_user_id: before, user_id: now } = system;
    if (from !== undefined && to !== undefined && to !== from) this.#people.move(from, to);
    else if (before !== undefined && now !== undefined) this.#people.move(before, now);
    else return false;
    this.#context.log("info", "whatsapp.number-changed");
    return true;
  }

  /** Sent, delivered and read need nothing. */
  #status(raw: unknown): void {
    const read = statusSchema.safeParse(raw);
    if (!read.success) {
      this.#unreadable("status");
      return;
    }
    const { status, errors = [], id } = read.data;
    if (status !== "failed") return;
    const why = errors.map(problemText).join("; ") || "WhatsApp does not say why";
    const codes = errors.map(({ code }) => code);
    this.#context.log("error", "whatsapp.delivery-failed", { message: id, codes });
    this.#context.reportState("live", `A message was not delivered: ${why}`);
  }

  #unreadable(what: string): void {
    this.#context.log("warn", "whatsapp.unreadable", { what });
  }

  #pause(ms: number): Promise<void> {
    const early = new AbortController();
    const end = () => early.abort();
    this.#wake = end;
    this.#signal.addEventListener("abort", end, { once: true });
    if (this.#signal.aborted) end();
    return pauseFor(this.#context.clock, ms, early.signal).finally(() => {
      this.#signal.removeEventListener("abort", end);
      this.#wake = () => undefined;
    });
  }
}
