// Receiving: log in, request everything after the last durable message, deliver it, continue. Any
// failure ends the connection; the next one resumes at the cursor, so nothing is lost, and a duplicate
// is recognised by its id.
import { EarshotError, inboundSchema } from "earshot";
import { z } from "zod";
import { openLine, unavailable } from "./line.mjs";

const pauseMsMin = 200;
const pauseMsMax = 30_000;

const hello = z.object({ hello: z.object({ id: z.string(), name: z.string() }) });
const message = z.object({
  n: z.number().int(),
  loft: z.object({ id: z.string(), kind: z.enum(["direct", "group"]) }),
  id: z.string(),
  from: z.object({ id: z.string(), name: z.string(), bot: z.boolean() }),
  text: z.string(),
  calls: z.array(z.string()),
  answers: z.object({ id: z.string(), from: z.string() }).nullable(),
});

/** Receives until the signal aborts. Rejects only when the token is refused. */
export async function receive(context, wire, signal) {
  let failures = 0;
  while (!signal.aborted) {
    try {
      context.reportState(failures === 0 ? "connecting" : "resuming");
      await listen(context, wire, signal, () => {
        failures = 0;
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof EarshotError && error.disposition === "terminal") throw error;
      context.reportState("backing-off", error instanceof Error ? error.message : "a bug");
    }
    await pause(context.clock, Math.min(pauseMsMax, pauseMsMin * 2 ** failures), signal);
    failures += 1;
  }
}

/** One connection, from the login to its end, which is always an error. */
async function listen(context, wire, signal, live) {
  const line = await openLine(context.config, signal);
  try {
    const heard = line[Symbol.asyncIterator]();
    const self = await login(line, heard, context.config.token);
    const cursor = await context.loadCursor(self.id);
    line.say({ listen: { after: cursor === null ? wire.after : Number(cursor) } });
    // Live means that messages arrive: not before the loft says so. It reports where it begins, because
    // our own store may refuse the very first message, which has no cursor before it.
    const { value } = await heard.next();
    if (!Number.isInteger(value?.listening?.after)) throw unavailable("it did not report it");
    wire.after ??= value.listening.after;
    wire.line = line;
    context.reportState("live");
    live();
    for await (const said of heard) await take(said, self, line, context);
    throw unavailable("the line broke");
  } finally {
    wire.line = null;
    line.close();
  }
}

async function login(line, heard, token) {
  line.say({ login: token });
  const { value } = await heard.next();
  const greeting = hello.safeParse(value);
  if (greeting.success) return greeting.data.hello;
  if (value?.refused !== undefined)
    throw new EarshotError("EAR_CHANNEL_AUTH", "Cannot log in as the loft refuses the token");
  throw unavailable("it does not say hello");
}

/** One line of the loft. A line that cannot be parsed is logged without its text, and skipped. */
async function take(said, self, line, context) {
  const answer = said?.sent ?? said?.notSent;
  if (typeof answer?.ref === "string") return line.answered(answer.ref, said);
  const read = message.safeParse(said?.message);
  if (!read.success) {
    context.log("warn", "pigeon.unreadable", { at: read.error.issues[0]?.path.join(".") });
    return;
  }
  const event = { type: "message", message: inboundOf(read.data, self, context.accountId) };
  // Resolves once it is on disk, together with the cursor; rejects when it was not accepted.
  await context.deliver([event], String(read.data.n));
}

/** Facts only: who is meant, and whose message is answered, as the platform reports it. */
function inboundOf({ loft, id, from, text, calls, answers }, self, account) {
  return inboundSchema.parse({
    channel: "pigeon",
    account,
    chat: loft,
    id,
    author: { id: from.id, name: from.name, isBot: from.bot, isSelf: from.id === self.id },
    text,
    mentions: calls.map((called) => ({ id: called, isSelf: called === self.id })),
    replyTo:
      answers === null
        ? null
        : { id: answers.id, authorId: answers.from, authorIsSelf: answers.from === self.id },
  });
}

/** Who the token belongs to, for `earshot doctor`. */
export async function whoAmI(config, signal) {
  const line = await openLine(config, signal);
  try {
    return await login(line, line[Symbol.asyncIterator](), config.token);
  } finally {
    line.close();
  }
}

/** Waits on the runtime's clock, or until the signal aborts. */
function pause(clock, ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clock.clearTimer(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.setTimer(clock.now() + ms, done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
