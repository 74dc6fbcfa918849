/** Slack: https://docs.slack.dev/reference/events/message. */
import { absent, type Column, contract, tested } from "./case.ts";

const events = (name: string) => `events.test.ts > ${name}`;

export const slack: Column = {
  edits: tested(
    events("edits and deletions, in threads as well; a preview and a counted reply change nothing"),
    "end-to-end.test.ts > an edit before the turn is what the agent reads, workers %i",
  ),
  deletions: tested(
    events("edits and deletions, in threads as well; a preview and a counted reply change nothing"),
  ),
  albums: tested(events("a file with a caption, and one without")),
  captions: tested(events("a file with a caption, and one without")),
  forwards: tested(
    events("a shared message is forwarded, or with a comment a quote; a link's preview is neither"),
  ),
  quotes: tested(
    events("a shared message is forwarded, or with a comment a quote; a link's preview is neither"),
  ),
  threads: tested(
    events("threads have their first author; what is also sent to the channel stays in its thread"),
    "end-to-end.test.ts > a thread is a conversation of its own and is answered inside, workers %i",
  ),
  anonymous: absent(
    "a message has the id of a user or of a bot; there is no other author",
    "https://docs.slack.dev/reference/events/message",
  ),
  bots: tested(
    events("a bot's message with blocks, an incoming webhook's, a workflow's, and Slackbot's"),
  ),
  system: tested(events("system messages engage nobody, and joins are not heard")),
  moved: tested(
    events("a conversation that gets another id stays the same room, also after a restart"),
  ),
  gone: tested(
    events("a person whose name Slack does not say has an id; it is said once in the log"),
  ),
  rich: tested(
    "rendering.test.ts > code and quotes are marked as such",
    "rendering.test.ts > blocks say what people see of them",
  ),
  short: tested(
    events("an action, one character, the longest text, right to left, and combining marks"),
  ),
  longest: tested(
    events("an action, one character, the longest text, right to left, and combining marks"),
  ),
  own: contract("echo"),
};
