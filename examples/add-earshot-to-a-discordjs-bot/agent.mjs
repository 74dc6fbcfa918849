// Who answers. Any other driver does as well: a model, a program, a webhook.
export default async function* (turn) {
  yield { type: "text", text: `You said: ${turn.said}` };
}
