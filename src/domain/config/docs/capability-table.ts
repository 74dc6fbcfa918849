/**
 * The table of capabilities
 * =========================
 * What each channel can do, as rows of text: the same in docs/channels/README.md, on the Setup page and
 * in `earshot channels`.
 */
import type { ChannelCapabilities, ChannelDefinition } from "../../ports/index.ts";

export type ChannelAbilities = Pick<ChannelDefinition, "capabilities" | "textLimit" | "textUnit">;

interface CapabilityColumn {
  readonly title: string;
  readonly about: string;
  readonly cell: (channel: ChannelAbilities) => string;
}

export const yes = "yes";
export const no = "–";

const able = (
  key: Exclude<keyof ChannelCapabilities, "mentions">,
  title: string,
  about: string,
): CapabilityColumn => ({
  title,
  about,
  cell: ({ capabilities }) => (capabilities[key] ? yes : no),
});

const mentionWords = { structured: "by id", text: "in the text", unknown: "unknown" } as const;
const unitWords = { utf16: "UTF-16 units", codepoints: "code points", bytes: "bytes" } as const;

/** Such as "4,096 UTF-16 units". */
export const textLimitText = ({ textLimit, textUnit = "utf16" }: ChannelAbilities): string =>
  `${textLimit.toLocaleString("en")} ${unitWords[textUnit]}`;

export const capabilityColumns: readonly CapabilityColumn[] = [
  {
    title: "mentions",
    about: "how a message says who is meant: by id, or by a name in its text",
    cell: ({ capabilities }) => mentionWords[capabilities.mentions],
  },
  able("replyAuthor", "reply author", "a reply says whose message it answers"),
  able("botFlag", "bots", "a message says that a bot wrote it"),
  able("membership", "members", "how many people and bots are in the room"),
  able("threads", "threads", "threads or topics are conversations of their own"),
  able("edits", "edits", "edited messages are heard, and answers can grow while they are written"),
  able("deletes", "deletes", "deleted messages are heard"),
  able("reactions", "reactions", "emoji under messages, both ways"),
  able("typing", "typing", "the room sees that the agent writes"),
  able("media", "files", "pictures, voice and files, both ways"),
  able("history", "history", "messages from before earshot came can be read"),
  {
    title: "one message",
    about: "the longest one, in the platform's unit; a longer answer is split",
    cell: textLimitText,
  },
];
