/**
 * earshot for an app of Bolt
 * ==========================
 * `earshot/bolt`: the app keeps its socket or its endpoint, and its listeners. Its events go through an
 * earshot of the same process, which answers with the app's token at the app's address. The calls are
 * earshot's own: the app's client repeats a call that had no answer, and a message would be there twice.
 * docs/guide/bridges.md describes it.
 */
import { z } from "zod";
import { openSlack, slackChannel } from "../adapters/channels/slack/channel.ts";
import { isOwnPress } from "../adapters/channels/slack/choices.ts";
import type { SlackAccountConfig } from "../adapters/channels/slack/config.ts";
import { EarshotError } from "../domain/errors.ts";
import type { ChannelDefinition } from "../domain/ports/index.ts";
import { Feed } from "./shared.ts";

/** What is needed of an `App` of Bolt, whose token belongs to one workspace. */
export interface BoltApp {
  readonly client: { readonly token?: string | undefined; readonly slackApiUrl: string };
}

/** What is needed of the arguments of a global middleware. */
export interface BoltArgs {
  readonly body: object;
  readonly next: () => Promise<void>;
  /** Where Slack waits for an answer. */
  readonly ack?: unknown;
}

export interface BoltBridge {
  /** For `createEarshot({ channels })`: the channel `slack`, with this app as its account. */
  readonly channel: ChannelDefinition;
  /**
   * For `app.use(bridge.middleware)`: every event goes to earshot and on to the app's listeners.
   * Presses of buttons that earshot has sent are its own and go no further.
   */
  readonly middleware: (args: BoltArgs) => Promise<void>;
}

interface Delivery {
  readonly type: "events_api" | "interactive";
  readonly body: Readonly<Record<string, unknown>>;
}

/** The account's config: the tokens are the app's. */
const accountSchema = z.strictObject({ replyInThread: z.boolean().default(false) });

/**
 * Adds earshot to an app of Bolt.
 *
 * @example
 * ```ts
 * const bridge = createBridge(app);
 * app.use(bridge.middleware);
 * await createEarshot({ channels: [bridge.channel] });
 * await app.start();
 * ```
 */
export function createBridge(app: BoltApp): BoltBridge {
  const feed = new Feed<Delivery>();
  const channel: ChannelDefinition<{ readonly replyInThread: boolean }> = {
    ...withoutSetup,
    accountSchema,
    open({ config: { replyInThread }, ...context }) {
      const config = configOf(app, replyInThread);
      const stopping: { signal: AbortSignal | null } = { signal: null };
      const { account, take } = openSlack({
        ...context,
        config,
        reportState(state, detail) {
          context.reportState(state, detail);
          if (state !== "live" || stopping.signal === null) return;
          feed.open(context, ({ type, body }) => take(type, body, false), stopping.signal);
        },
      });
      return {
        ...account,
        start(signal) {
          stopping.signal = signal;
          return account.start(signal);
        },
      };
    },
  };
  return {
    channel: channel as ChannelDefinition,
    async middleware({ body, next, ack }) {
      const fields = body as Delivery["body"];
      if (isOwnPress(body)) {
        if (typeof ack === "function") await (ack as () => Promise<void>)();
        await feed.push({ type: "interactive", body: fields });
        return;
      }
      if (fields.type === "event_callback") await feed.push({ type: "events_api", body: fields });
      await next();
    },
  };
}

const { setup: _, ...withoutSetup } = slackChannel;

function configOf({ client }: BoltApp, replyInThread: boolean): SlackAccountConfig {
  const { token, slackApiUrl } = client;
  if (token === undefined)
    throw new EarshotError(
      "EAR_CHANNEL_CONFIG",
      "Cannot answer on Slack: the app has no token of its own (it asks `authorize` for one of each " +
        "workspace). Create it with `token`",
    );
  return { botToken: token, apiRoot: `${slackApiUrl.replace(/\/+$/, "")}/`, replyInThread };
}
