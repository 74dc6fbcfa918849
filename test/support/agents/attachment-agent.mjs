/**
 * An agent that looks at what it is sent
 * ======================================
 * Answers with the line of each file in its turn, and with what the tools report of it.
 */
const line = /\[Attachment attachment_id:(a\d+-\d+)\] (.*)/g;

export default async function* look(turn) {
  const answers = [];
  for (const [, id, facts] of turn.prompt.matchAll(line)) {
    const inside = await turn.callTool("attachment_fetch", { attachment_id: id });
    answers.push(`I see ${facts}. ${inside}`);
  }
  yield {
    type: "text",
    text: answers.length === 0 ? `You said ${turn.said}` : answers.join("\n\n"),
  };
}
