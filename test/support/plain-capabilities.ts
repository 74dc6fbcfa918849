/** A channel of a test that sends text and nothing else. */
import type { ChannelCapabilities } from "../../src/domain/ports/index.ts";

export const plainCapabilities: ChannelCapabilities = {
  edits: false,
  deletes: false,
  reactions: false,
  typing: false,
  threads: false,
  membership: false,
  history: false,
  media: false,
  mentions: "structured",
  replyAuthor: true,
  botFlag: true,
};
