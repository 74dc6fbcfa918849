/**
 * The config of a Slack account
 * =============================
 * With `appToken` events come over Socket Mode, with `signingSecret` Slack posts them; with both, both.
 */
import { z } from "zod";

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
