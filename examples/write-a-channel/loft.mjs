// The platform, for tests and for trying it out: a loft that stores messages and sends them to bots. It
// can be made to misbehave, because platforms do.
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const bot = { id: "pidge", name: "Pidge" };

export class Loft {
  #server = createServer((socket) => this.#serve(socket));
  #sockets = new Set();
  #listening = new Set();
  #token;
  #fate = [];
  #twice = false;
  port = 0;
  /** All messages in order: the number of a message is its index. */
  said = [];

  constructor(token) {
    this.#token = token;
  }

  async open() {
    this.#server.listen(this.port, "127.0.0.1");
    await once(this.#server, "listening");
    this.port = this.#server.address().port;
    return this;
  }

  async close() {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Bots that receive messages. */
  get bots() {
    return this.#listening.size;
  }

  /** Somebody speaks. */
  say({ by = { id: "ann", name: "Ann", bot: false }, loft = "roof", kind = "group", ...rest }) {
    const n = this.said.length + 1;
    const message = { calls: [], answers: null, ...rest, n, id: `m${n}`, from: by };
    this.said.push({ ...message, loft: { id: loft, kind } });
    for (const socket of this.#listening) {
      sendTo(socket, { message: this.said.at(-1) });
      if (this.#twice) sendTo(socket, { message: this.said.at(-1) });
    }
    this.#twice = false;
    return message.id;
  }

  /** The result of the next send: `{ why, seconds }` refuses it, "lost" accepts it and hangs up. */
  next(fate) {
    this.#fate.push(fate);
  }

  twice() {
    this.#twice = true;
  }

  garbage() {
    for (const socket of this.#listening) socket.write('coo\n{"message":{"n":"seven"}}\n');
  }

  revoke() {
    this.#token = null;
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket) {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#listening.delete(socket);
    });
    createInterface({ input: socket }).on("line", (line) => this.#hear(socket, JSON.parse(line)));
  }

  #hear(socket, { login, listen, send }) {
    if (login !== undefined)
      sendTo(socket, login === this.#token ? { hello: bot } : { refused: "login" });
    if (listen !== undefined) {
      this.#listening.add(socket);
      const after = listen.after ?? this.said.length;
      sendTo(socket, { listening: { after } });
      for (const message of this.said.slice(after)) sendTo(socket, { message });
    }
    if (send !== undefined) this.#take(socket, send);
  }

  #take(socket, { ref, loft, text, answers }) {
    const fate = this.#fate.shift();
    if (fate?.why !== undefined) return sendTo(socket, { notSent: { ref, ...fate } });
    const n = this.said.length + 1;
    const parent = this.said.find(({ id }) => id === answers);
    const answered = parent === undefined ? null : { id: answers, from: parent.from.id };
    const from = { ...bot, bot: true };
    const place = { id: loft, kind: "group" };
    this.said.push({ n, id: `m${n}`, from, loft: place, text, calls: [], answers: answered });
    if (fate === "lost") return socket.destroy();
    sendTo(socket, { sent: { ref, id: `m${n}` } });
  }
}

function sendTo(socket, value) {
  socket.write(`${JSON.stringify(value)}\n`);
}
