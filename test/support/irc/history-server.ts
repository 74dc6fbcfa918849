/**
 * A server that can be asked for what was said: CHATHISTORY as
 * https://ircv3.net/specs/extensions/chathistory has it, with batch, server-time and message-tags; of
 * the rest of IRC only what a client needs to be in a room (https://modern.ircdocs.horse). No server in
 * Debian has it.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

interface Said {
  readonly id: string;
  readonly at: number;
  readonly nick: string;
  readonly text: string;
}

const caps = "batch server-time message-tags draft/chathistory";
/** What becomes of a JOIN. `late`: the answer comes after that to the lines behind it, as at a bouncer. */
type JoinAnswer = "let in" | "late" | "refused" | "refused late";

export class HistoryServer {
  readonly said: Said[] = [];
  /** Every CHATHISTORY command. */
  readonly asked: string[] = [];
  /** What becomes of the next JOINs. */
  joins: JoinAnswer = "let in";
  /** Who connects is in #room at once, and answers no JOIN of it. */
  bringsIn = false;
  /** The connection breaks at the next question for history. */
  breaksOnce = false;
  /** The host under which others see who connects. */
  host = "bot.test";
  /** Said by Ann when it reads a goodbye, before it answers that; null: nothing. */
  lastWords: string | null = null;
  /** Messages in one answer. */
  pageMax = 3;
  /** JOIN commands that came. */
  joined = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));
  #count = 0;

  async start(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  /** Somebody says something in #room; who is there hears it. */
  say(nick: string, text: string, at = Date.now()): string {
    this.#count += 1;
    const one = { id: `h${this.#count}`, at, nick, text };
    this.said.push(one);
    for (const socket of this.#sockets) socket.write(`${lineOf(one)}\r\n`);
    return one.id;
  }

  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  async stop(): Promise<void> {
    this.drop();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(socket: Socket): void {
    let nick = "*";
    let rest = "";
    const send = (...lines: readonly string[]) =>
      socket.write(lines.map((line) => `${line}\r\n`).join(""));
    const entered = (room: string) => [
      `:${nick}!bot@${this.host} JOIN ${room}`,
      `:h.test 353 ${nick} = ${room} :${nick} ann`,
      `:h.test 366 ${nick} ${room} :End of NAMES`,
    ];
    const answers: Readonly<Record<string, (params: readonly string[]) => void>> = {
      CAP: ([command, names]) => {
        if (command === "LS") send(`:h.test CAP * LS :${caps}`);
        if (command === "REQ") send(`:h.test CAP * ACK :${names}`);
      },
      NICK: ([wanted = "x"]) => {
        nick = wanted;
      },
      USER: () => {
        send(
          `:h.test 001 ${nick} :Welcome`,
          `:h.test 005 ${nick} CASEMAPPING=ascii CHANTYPES=# CHATHISTORY=${this.pageMax} :are supported`,
          `:h.test 422 ${nick} :No message of the day`,
          ...(this.bringsIn ? entered("#room") : []),
        );
        if (this.bringsIn) this.#sockets.add(socket);
      },
      QUIT: () => {
        if (this.lastWords !== null) this.say("ann", this.lastWords);
        this.#sockets.delete(socket);
        send("ERROR :Closing link");
        socket.end();
      },
      PING: ([token]) => send(`:h.test PONG h.test :${token}`),
      WHOIS: ([who]) =>
        send(
          `:h.test 311 ${nick} ${who} bot ${this.host} * :bot`,
          `:h.test 318 ${nick} ${who} :End`,
        ),
      JOIN: ([room = ""]) => {
        this.joined += 1;
        if (this.bringsIn) return;
        const { joins } = this;
        const answer = () => {
          if (joins.startsWith("refused"))
            return send(`:h.test 471 ${nick} ${room} :Cannot join channel (+l)`);
          this.#sockets.add(socket);
          send(...entered(room));
        };
        if (joins.endsWith("late")) setTimeout(answer, 150);
        else answer();
      },
      CHATHISTORY: (params) => {
        this.asked.push(params.join(" "));
        if (this.breaksOnce) {
          this.breaksOnce = false;
          socket.destroy();
          return;
        }
        const [, room, from = "", limit] = params;
        const since = Date.parse(from.replace("timestamp=", ""));
        const found = this.said.filter(({ at }) => at > since);
        const page = found.slice(0, Math.min(Number(limit), this.pageMax));
        const lines = page.map((one) => lineOf(one, ";batch=b1"));
        send(`:h.test BATCH +b1 chathistory ${room}`, ...lines, ":h.test BATCH -b1");
      },
    };
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      const lines = (rest + String(data)).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [head = "", trailing] = line.split(/ :(.*)/s);
        const [command = "", ...params] = head.split(" ");
        answers[command]?.(trailing === undefined ? params : [...params, trailing]);
      }
    });
  }
}

const lineOf = ({ id, at, nick, text }: Said, tags = "") =>
  `@time=${new Date(at).toISOString()};msgid=${id}${tags} :${nick}!u@${nick}.test PRIVMSG #room :${text}`;
