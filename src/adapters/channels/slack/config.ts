/**
 * The config of a Slack account
 * =============================
 * With `appToken` events come over Socket Mode, with `signingSecret` Slack posts them; with both, both.
 */
import { z } from "zod";
import type { ChannelFacts } from "../../../domain/ports/index.ts";

export interface SlackAccountConfig {
  readonly botToken: string;
  /** Opens Socket Mode; absent: Slack posts. */
  readonly appToken?: string | undefined;
  /** Verifies what Slack posts; absent: nothing posted is accepted. */
  readonly signingSecret?: string | undefined;
  readonly apiRoot: string;
  /** Whether an answer to a message of a channel opens a thread below it. */
  readonly replyInThread: boolean;
}

export const slackAccountSchema = z
  .strictObject({
    botToken: z
      .string()
      .regex(/^[\w.:-]{1,1024}$/, "a bot token begins with xoxb-, from OAuth & Permissions")
      .meta({ description: "The bot's token (xoxb-), preferably from an environment variable." }),
    appToken: z
      .string()
      .regex(/^[\w.:-]{1,1024}$/, "an app-level token begins with xapp-, from Basic Information")
      .optional()
      .meta({
        description: "The app-level token (xapp-) with connections:write, for Socket Mode.",
      }),
    signingSecret: z.string().min(8).max(256).optional().meta({
      description: "The app's signing secret, for events posted to /hooks/slack/<account>.",
    }),
    apiRoot: z
      .url({ protocol: /^https?$/ })
      .default("https://slack.com/api/")
      .transform((url) => `${url.replace(/\/+$/, "")}/`)
      .meta({ description: "Another Web API server (GovSlack, a test one)." }),
    replyInThread: z
      .boolean()
      .default(false)
      .meta({ description: "Answer a message of a channel in a thread below it." }),
  })
  .refine(({ appToken, signingSecret }) => (appToken ?? signingSecret) !== undefined, {
    error: "an account needs appToken (Socket Mode) or signingSecret (events over HTTP)",
  });

/** UTF-16 units: what Slack recommends, and the most that it takes in an edit. */
export const slackTextLimit = 4_000;

/** All of the channel but what connects, which is loaded when an account needs it. */
export const slackFacts: ChannelFacts<SlackAccountConfig> = {
  id: "slack",
  meta: { name: "Slack", description: "A Slack bot, over Socket Mode or with posted events" },
  capabilities: {
    edits: true,
    deletes: true,
    reactions: true,
    typing: false,
    threads: true,
    membership: true,
    history: true,
    media: true,
    mentions: "structured",
    replyAuthor: false,
    botFlag: true,
  },
  textLimit: slackTextLimit,
  typingIntervalMs: 60_000,
  accountSchema: slackAccountSchema as z.ZodType<SlackAccountConfig>,
  setup: {
    steps: [
      "At https://api.slack.com/apps, choose Create New App, From a manifest, and paste the one of docs/channels/slack.md.",
      "Under Basic Information, App-Level Tokens, generate a token with the scope connections:write.",
      "Under Install App, install it to the workspace and copy the Bot User OAuth Token.",
    ],
    fields: [
      {
        name: "botToken",
        label: "Bot token",
        secret: "SLACK_BOT_TOKEN",
        isOptional: false,
        hint: "Begins with xoxb-; under Install App.",
      },
      {
        name: "appToken",
        label: "App-level token",
        secret: "SLACK_APP_TOKEN",
        isOptional: true,
        hint: "Begins with xapp-; for Socket Mode. Left out: Slack posts events, with the next one.",
      },
      {
        name: "signingSecret",
        label: "Signing secret",
        secret: "SLACK_SIGNING_SECRET",
        isOptional: true,
        hint: "Under Basic Information; for events over HTTP.",
      },
    ],
  },
  local: false,
  connectsOnce: ({ appToken }) => appToken !== undefined,
  chatKind: (id) =>
    /^D[A-Z0-9]+$/.test(id) ? "direct" : /^[CG][A-Z0-9]+$/.test(id) ? "group" : null,
};
