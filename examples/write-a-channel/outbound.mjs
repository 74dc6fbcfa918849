// Sending has four results: sent, with the ids of the messages; not now (`retry`); never (`terminal`);
// or unknown (`in-doubt`, from line.mjs). The runtime does the rest.
import { EarshotError } from "earshot";
import { unavailable } from "./line.mjs";

/** The limit of one message of a loft. */
const textUnitsMax = 500;

export const carrier = (wire) => ({
  sendText: (request) => send(wire, request, null),
  replyText: (request) => send(wire, request, request.replyTo),
});

async function send(wire, { route, text, id, signal }, replyTo) {
  const messageIds = [];
  for (const [index, piece] of pieces(text).entries()) {
    signal.throwIfAborted();
    if (wire.line === null) throw unavailable("the line is down");
    const ref = `${id}.${index}`;
    const answers = index === 0 ? replyTo : null;
    const send = { ref, loft: route.chat.id, text: piece, answers };
    messageIds.push(idOf(await wire.line.ask(ref, { send })));
  }
  return { messageIds };
}

function idOf({ sent, notSent }) {
  if (sent !== undefined) return sent.id;
  if (notSent.why === "slow-down")
    throw new EarshotError("EAR_CHANNEL_RATE", "Cannot send yet as the loft asks to slow down", {
      retryAfterMs: notSent.seconds * 1_000,
    });
  throw new EarshotError("EAR_CHANNEL_REJECTED", "Cannot send as the loft refuses the message");
}

/** The text in pieces that the loft accepts, cut at spaces if possible. */
function pieces(text) {
  const cut = [];
  let rest = text;
  while (rest.length > textUnitsMax) {
    const space = rest.lastIndexOf(" ", textUnitsMax);
    const at = space > 0 ? space : textUnitsMax;
    cut.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...cut, rest];
}
