/**
 * A bot of a Slack workspace, over Socket Mode, which needs no public address, or with events that Slack
 * posts. docs/channels/slack.md describes how to create one. This file assembles the parts, one file each
 * (wire format, normalising, the gateway, recovery, the hook, sending, blocks, errors).
 */
import { EarshotError } from "../../../domain/errors.ts";
import {
  type ChannelAccount,
  type ChannelContext,
  defineChannel,
} from "../../../domain/ports/index.ts";
import { createSlackClient } from "./client.ts";
import { type SlackAccountConfig, slackFacts } from "./config.ts";
import { SlackDirectory } from "./directory.ts";
import { SlackGateway, whoAmI } from "./gateway.ts";
import { createSlackHook, type TakePosted } from "./hook.ts";
import { fetchFile } from "./media.ts";
import { createSlackOutbound } from "./outbound.ts";
import { historyIn, membersIn, missingScopes } from "./rooms.ts";
import { okSchema } from "./wire.ts";

export const slackChannel = defineChannel<SlackAccountConfig>({
  ...slackFacts,
  open: (context) => openSlack(context).account,
});

/** An account, and what takes deliveries that come to it in another way than by its socket or hook. */
export function openSlack(context: ChannelContext<SlackAccountConfig>): {
  readonly account: ChannelAccount;
  readonly take: TakePosted;
} {
  const { config } = context;
  const client = createSlackClient(config);
  const directory = new SlackDirectory(client, context.log);
  let gateway: SlackGateway | null = null;
  const take: TakePosted = async (type, body, isRepeated) => {
    if (gateway !== null) return gateway.takePosted(type, body, isRepeated);
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot accept events: the account has not started. Send them again",
    );
  };
  const hook =
    config.signingSecret === undefined ? null : createSlackHook(config.signingSecret, take);
  const account: ChannelAccount = {
    start(signal) {
      gateway = new SlackGateway(client, context, directory, signal);
      return gateway.run();
    },
    ...(hook !== null && { hook }),
    outbound: createSlackOutbound(client, context, directory),
    membership: (route, signal) => membersIn(client, directory, route, signal),
    history: (route, limit, signal) =>
      historyIn(client, directory, context.accountId, { route, limit, signal }),
    downloadMedia: (id, signal) => fetchFile(client, context, id, signal),
    async identify(signal) {
      const { self, scopes } = await whoAmI(client, signal);
      const notes = missingScopes(scopes);
      const { appToken: token } = config;
      // Nothing is opened: the answer is only an address, and the token is known to be good.
      if (token !== undefined)
        await client.call(
          "apps.connections.open",
          { token },
          { kind: "connect", signal },
          okSchema,
        );
      return { id: self.id, name: `@${self.name}`, ...(notes.length > 0 && { notes }) };
    },
  };
  return { account, take };
}
