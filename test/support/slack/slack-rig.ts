/**
 * One Slack account on a server with a channel, a direct chat and two people; gone when the test ends.
 */
import { onTestFinished } from "vitest";
import { slackChannel } from "../../../src/adapters/channels/slack/channel.ts";
import type { Route } from "../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../src/domain/ports/index.ts";
import { type OpenedChannel, openChannel } from "../../../src/testing/open-channel.ts";
import { appToken, botToken, type SlackServer, startSlackServer } from "./slack-server.ts";
import type { Room } from "./slack-workspace.ts";

export const slack = slackChannel as ChannelDefinition;

/** A signal that never aborts. */
export const never: AbortSignal = new AbortController().signal;

export interface SlackRig {
  readonly server: SlackServer;
  readonly workspace: SlackServer["workspace"];
  readonly ann: ReturnType<SlackServer["workspace"]["user"]>;
  readonly bob: ReturnType<SlackServer["workspace"]["user"]>;
  readonly kitchen: Room;
  readonly direct: Room;
  /** Opens an account; with the cursors of an earlier one it takes up behind that. */
  open(account?: object, cursors?: Map<string, string>): OpenedChannel;
}

export async function slackRig(): Promise<SlackRig> {
  const server = await startSlackServer();
  const { workspace } = server;
  const ann = workspace.user("Ann");
  const bob = workspace.user("Bob");
  const opened: OpenedChannel[] = [];
  onTestFinished(async () => {
    for (const channel of opened) await channel.stop();
    await server.down();
  });
  return {
    server,
    workspace,
    ann,
    bob,
    kitchen: workspace.room("channel", "kitchen", [ann, bob]),
    direct: workspace.room("im", "", [ann]),
    open(account = {}, cursors) {
      const config = { botToken, appToken, apiRoot: server.apiRoot, ...account };
      const channel = openChannel(slack, config, cursors);
      opened.push(channel);
      return channel;
    },
  };
}

export const routeTo = (room: Room, thread: string | null = null): Route => ({
  channel: "slack",
  account: "default",
  chat: { id: room.id, kind: room.type === "im" ? "direct" : "group" },
  thread: thread === null ? null : { id: thread, kind: "thread" },
});
