/**
 * Somebody on IRC with a client of their own: writes lines, keeps what comes, answers PING.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { lookUntil } from "../../../src/testing/look-until.ts";

/** What a person's client asks for on servers that have it. */
const wanted = ["message-tags", "server-time", "echo-message", "batch", "account-tag"];

export class IrcPerson {
  readonly lines: string[] = [];
  nick: string;
  readonly #socket: Socket;
  readonly #waiting = new Set<() => void>();
  #rest = "";
  #asked = 0;

  private constructor(socket: Socket, nick: string) {
    this.#socket = socket;
    this.nick = nick;
    socket.setEncoding("utf8");
    socket.on("data", (text) => this.#read(String(text)));
    socket.on("error", () => undefined);
  }

  static async connect(port: number, nick: string, pass?: string): Promise<IrcPerson> {
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    const person = new IrcPerson(socket, nick);
    person.write("CAP LS 302");
    if (pass !== undefined) person.write(`PASS ${pass}`);
    person.write(`NICK ${nick}`);
    person.write(`USER ${nick.slice(0, 9)} 0 * :${nick}`);
    const offered = await person.until((line) => / CAP \S+ LS (?!\* )/.test(line));
    const caps = wanted.filter((name) => offered.includes(name));
    if (caps.length > 0) {
      person.write(`CAP REQ :${caps.join(" ")}`);
      await person.until((line) => line.includes(" ACK "));
    }
    person.write("CAP END");
    await person.until((line) => / (376|422) /.test(line));
    return person;
  }

  write(line: string, encoding: BufferEncoding = "utf8"): void {
    this.#socket.write(`${line}\r\n`, encoding);
  }

  /** Writes a line; resolves to what came until the server had read it. */
  async ask(line: string): Promise<readonly string[]> {
    const from = this.lines.length;
    this.#asked += 1;
    const token = `${this.nick}-${this.#asked}`;
    this.write(line);
    this.write(`PING ${token}`);
    await this.until((one) => one.includes(" PONG ") && one.endsWith(token));
    return this.lines.slice(from);
  }

  async join(room: string): Promise<void> {
    await this.ask(`JOIN ${room}`);
  }

  /** Says something; resolves to the server's id of it, or "" where it has none. */
  async say(target: string, text: string, tags = ""): Promise<string> {
    const answer = await this.ask(`${tags === "" ? "" : `@${tags} `}PRIVMSG ${target} :${text}`);
    // What somebody else said there just before may come in between.
    const echo = answer.find(
      (line) => line.includes(`:${this.nick}!`) && line.includes(` PRIVMSG ${target} :`),
    );
    return /[@;]msgid=([^; ]+)/.exec(echo ?? "")?.[1] ?? "";
  }

  /** The first line that fits, now or later. */
  until(fits: (line: string) => boolean): Promise<string> {
    return lookUntil(
      () => this.lines.find(fits),
      () => `${this.nick} heard ${this.lines.slice(-20).join("\n")}`,
      (look) => {
        this.#waiting.add(look);
        return () => this.#waiting.delete(look);
      },
    );
  }

  /** The server has ended the connection: nothing is heard any more. */
  get isGone(): boolean {
    return this.#socket.readableEnded || this.#socket.destroyed;
  }

  /** Leaves the server; resolves when it has let go of the name. */
  async quit(): Promise<void> {
    if (this.#socket.destroyed) return;
    this.write("QUIT");
    await once(this.#socket, "close");
  }

  async close(): Promise<void> {
    if (this.#socket.destroyed) return;
    this.#socket.destroy();
    await once(this.#socket, "close");
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\r\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const ping = /^(?:@\S+ )?(?::\S+ )?PING (.*)$/.exec(line);
      if (ping !== null) this.write(`PONG ${ping[1]}`);
      else this.lines.push(line);
    }
    for (const look of [...this.#waiting]) look();
  }
}
