// One connection to a loft: a JSON object a line, both ways. A send has a `ref` of its own, and so has
// its answer, so if the connection breaks in between, the send is reported as in doubt.
import { once } from "node:events";
import { connect } from "node:net";
import { EarshotError } from "earshot";

const connectMsMax = 5_000;
const answerMsMax = 10_000;
/** A loft that never ends a line must not fill our memory. */
const lineUnitsMax = 65_536;

/** @throws EarshotError EAR_CHANNEL_UNAVAILABLE, which means: try again later. */
export async function openLine({ host, port }, signal) {
  const socket = connect({ host, port });
  const within = AbortSignal.any([signal, AbortSignal.timeout(connectMsMax)]);
  try {
    await once(socket, "connect", { signal: within });
  } catch (cause) {
    socket.destroy();
    throw unavailable("the loft cannot be reached", cause);
  }
  return new Line(socket, signal);
}

export const unavailable = (why, cause) =>
  new EarshotError("EAR_CHANNEL_UNAVAILABLE", `Cannot reach the loft as ${why}`, { cause });

class Line {
  #socket;
  #asked = new Map();

  constructor(socket, signal) {
    this.#socket = socket;
    const end = () => socket.destroy();
    signal.addEventListener("abort", end);
    socket.on("error", () => {});
    socket.on("close", () => {
      signal.removeEventListener("abort", end);
      for (const { reject } of this.#asked.values()) reject(inDoubt("the line broke"));
      this.#asked.clear();
    });
  }

  say(value) {
    this.#socket.write(`${JSON.stringify(value)}\n`);
  }

  /** Sends it, and resolves to the loft's answer for this `ref`. */
  async ask(ref, value) {
    if (this.#socket.destroyed) throw unavailable("the line broke");
    const answer = withResolvers();
    const late = setTimeout(() => answer.reject(inDoubt("it does not answer")), answerMsMax);
    this.#asked.set(ref, answer);
    this.say(value);
    try {
      return await answer.promise;
    } finally {
      clearTimeout(late);
      this.#asked.delete(ref);
    }
  }

  answered(ref, value) {
    this.#asked.get(ref)?.resolve(value);
  }

  close() {
    this.#socket.destroy();
  }

  /** The lines of the loft, parsed; null for one that is not JSON. Ends with the connection. */
  async *[Symbol.asyncIterator]() {
    this.#socket.setEncoding("utf8");
    let rest = "";
    for await (const part of this.#socket) {
      const lines = (rest + part).split("\n");
      rest = lines.pop();
      if (rest.length > lineUnitsMax) throw unavailable("it sends a line without an end");
      for (const line of lines) yield parsed(line);
    }
  }
}

const inDoubt = (why) =>
  new EarshotError("EAR_SEND_IN_DOUBT", `Cannot know whether it was sent: ${why}`);

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Node 20 has no Promise.withResolvers. */
function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
