/**
 * One connection to an IRC server
 * ===============================
 * irc-framework connects, negotiates capabilities, logs in by SASL and answers PING. This adds what a
 * bot needs that must know what became of its lines: IRC confirms nothing, but a server answers in
 * order, so what is written is followed by a PING, and whatever comes before its PONG is the answer.
 */
import type { EarshotError } from "../../../domain/errors.ts";
import { momentMax } from "../../../domain/message.ts";
import type { Clock, Log, TimerHandle } from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import { loadPackage } from "../shared/optional-package.ts";
import type { IrcAccountConfig } from "./config.ts";
import { connectionError, IrcLostError, reasonOf } from "./errors.ts";
import { type Fold, foldOf, identityOf } from "./names.ts";
import { type Transport, transportClass } from "./transport.ts";
import { type IrcLine, type IrcSource, readLine, sentAtOf } from "./wire.ts";

export const ircFramework = { platform: "IRC", name: "irc-framework", version: "^4.14.0" };
export const loadIrcFramework = () => loadPackage(ircFramework, () => import("irc-framework"));

const registerMsMax = 30_000;
const askMsMax = 20_000;
/** How long a server may take to answer a goodbye. */
const leaveMsMax = 500;
/** Lines kept as the answer to one question. */
const answerLinesMax = 5_000;
const nickTriesMax = 12;

/** The bot as the server shows it to others. */
export interface IrcSelf extends IrcSource {
  readonly account: string | null;
}

export interface ConnectionOptions {
  readonly config: IrcAccountConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** Every line that has the form of one, in order. */
  onLine(line: IrcLine, connection: IrcConnection): void;
}

type Framework = Awaited<ReturnType<typeof loadIrcFramework>>;

/** Connects, registers and logs in. */
export async function openConnection(
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<IrcConnection> {
  const connection = new IrcConnection(await loadIrcFramework(), options);
  const destroy = () => connection.destroy();
  try {
    signal.addEventListener("abort", destroy);
    const done = await within(options.clock, registerMsMax, connection.register());
    if (done === late) throw connection.failure("it does not answer");
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
}

interface Question {
  readonly token: string;
  readonly lines: IrcLine[];
  readonly answered: (lines: readonly IrcLine[]) => void;
  readonly lost: (error: Error) => void;
}

export class IrcConnection {
  self: IrcSelf;
  /** Of the server (ISUPPORT). */
  readonly supports = new Map<string, string>();
  /**
   * Everything that the server had sent until then has been read: by its own clock where its lines have a time,
   * because a line may wait on its way to us.
   */
  heardAt: number;
  /** Resolves when it is over, to the reason. */
  readonly closed: Promise<EarshotError>;
  readonly secrets: readonly string[];
  readonly #options: ConnectionOptions;
  readonly #client: InstanceType<Framework["Client"]>;
  readonly #parse: Framework["ircLineParser"];
  #transport: Transport | null = null;
  #question: Question | null = null;
  #asking: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #why: EarshotError | null = null;
  #isOpen = true;
  #isLeaving = false;
  /** The newest time of a line; null: they have none. */
  #newestAt: number | null = null;
  #isRegistered = false;
  #isPaused = false;
  #silence: TimerHandle | null = null;
  #nickTries = 0;
  #registered: () => void = () => undefined;
  #refused: (error: EarshotError) => void = () => undefined;
  #close: (why: EarshotError) => void = () => undefined;

  constructor({ Client, ircLineParser }: Framework, options: ConnectionOptions) {
    const { config, clock } = options;
    this.#options = options;
    this.#client = new Client();
    this.#parse = ircLineParser;
    this.heardAt = clock.now();
    this.self = { nick: config.nick, user: null, host: null, account: null };
    this.secrets = [config.serverPassword, config.login?.password].filter(
      (one) => one !== undefined,
    );
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get fold(): Fold {
    return foldOf(this.supports.get("CASEMAPPING"));
  }

  /** Our id as others see us. */
  get id(): string {
    const { self } = this;
    return identityOf(self, self.account) ?? `${self.nick}@${this.#options.config.host}`;
  }

  has(capability: string): boolean {
    return this.#client.network.cap.enabled.includes(capability);
  }

  failure(
    why: string,
    code: "EAR_CHANNEL_UNAVAILABLE" | "EAR_CHANNEL_AUTH" = "EAR_CHANNEL_UNAVAILABLE",
  ) {
    return connectionError(code, this.#options.config.host, why, this.secrets);
  }

  /** Resolves when the server has welcomed us. */
  register(): Promise<void> {
    const { config } = this.#options;
    const login = config.login?.by === "sasl" ? config.login : undefined;
    const client = this.#client;
    client.requestCap(["chathistory", "draft/chathistory"]);
    client.on("sasl failed", ({ reason }) => this.#saslFailed(reason));
    client.on("ping timeout", () => this.#end(this.failure("it has not answered for too long")));
    const hooks = {
      config,
      onLine: (line: string) => this.#take(line),
      onUnreadable: (why: string) => this.#options.log("warn", "irc.line-unreadable", { why }),
      onError: (code: string) => {
        this.#why ??= this.failure(connectFailure(code));
      },
      onClose: () => this.#end(this.failure("the connection was closed")),
    };
    const Transport = transportClass(hooks, (made) => {
      this.#transport = made;
    });
    return new Promise((resolve, reject) => {
      this.#registered = resolve;
      this.#refused = reject;
      client.connect({
        host: config.host,
        port: 0,
        nick: config.nick,
        username: config.username,
        gecos: config.realName,
        ...(config.serverPassword === undefined ? {} : { password: config.serverPassword }),
        account: login === undefined ? {} : { account: login.account, password: login.password },
        version: "",
        auto_reconnect: false,
        enable_echomessage: true,
        enable_chghost: true,
        ping_interval: config.pingSeconds,
        ping_timeout: 2.5 * config.pingSeconds,
        transport: Transport,
      });
    });
  }

  /** Writes a line; nothing becomes of it when the connection is gone. */
  write(line: string): void {
    if (this.#isOpen) this.#client.raw(line);
  }

  /**
   * Writes lines; resolves to everything that the server sent until it had read them.
   * @throws IrcLostError if the connection broke before that; what was written may have had an effect
   */
  ask(lines: readonly string[], signal?: AbortSignal): Promise<readonly IrcLine[]> {
    const run = () => this.#ask(lines, signal);
    const asked = this.#asking.then(run, run);
    this.#asking = asked.catch(() => undefined);
    return asked;
  }

  async #ask(lines: readonly string[], signal?: AbortSignal): Promise<readonly IrcLine[]> {
    if (!this.#isOpen || signal?.aborted === true) throw this.failure("it is not connected");
    this.#asked += 1;
    const token = `earshot-${this.#asked}`;
    const answer = new Promise<readonly IrcLine[]>((answered, lost) => {
      this.#question = { token, lines: [], answered, lost };
    });
    for (const line of lines) this.write(line);
    this.write(`PING ${token}`);
    const cancel = () => this.#question?.lost(new IrcLostError("it was cancelled"));
    signal?.addEventListener("abort", cancel);
    try {
      const found = await within(this.#options.clock, askMsMax, answer);
      if (found === late) throw new IrcLostError("no answer in time");
      return found;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#question = null;
    }
  }

  /** Stops reading, so that the server waits. */
  pause(paused: boolean): void {
    this.#isPaused = paused;
    if (paused) this.#transport?.pause();
    else this.#transport?.resume();
    this.#notSilent();
  }

  /** While we do not read, it is not the server that is silent. */
  #notSilent(): void {
    if (!this.#isOpen) return;
    this.#client.resetPingTimeoutTimer();
    const { clock, config } = this.#options;
    if (this.#silence !== null) clock.clearTimer(this.#silence);
    const again = () => this.#notSilent();
    this.#silence = this.#isPaused ? clock.setLimit(config.pingSeconds * 1_000, again) : null;
  }

  /** Says goodbye. What the server sent before it had read that is still read; then the connection ends. */
  quit(): void {
    if (this.#isLeaving || !this.#isOpen) return;
    this.write("QUIT :earshot stops");
    this.#isLeaving = true;
    this.#options.clock.setLimit(leaveMsMax, () => this.destroy());
  }

  destroy(): void {
    this.#end(this.failure("it was stopped"));
  }

  #end(why: EarshotError): void {
    this.#transport?.destroy();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const reason = this.#why ?? why;
    this.#client.removeAllListeners();
    this.#client.connection.clearTimers();
    this.#question?.lost(new IrcLostError(reason.message));
    this.#refused(reason);
    this.#close(reason);
  }

  /** A line before the library gets it. */
  #take(text: string): boolean {
    if (!this.#isOpen) return false;
    const line = readLine(this.#parse(text));
    if (line === null) {
      this.#options.log("warn", "irc.line-unreadable", { why: "not a line of IRC" });
      return false;
    }
    this.#heard(line);
    this.#note(line);
    const question = this.#question;
    if (question !== null && line.command === "PONG" && line.params.at(-1) === question.token)
      question.answered(question.lines);
    else if (question !== null && question.lines.length < answerLinesMax) question.lines.push(line);
    if (this.#isOpen) this.#options.onLine(line, this);
    return this.#isOpen;
  }

  #heard({ tags }: IrcLine): void {
    const at = sentAtOf(tags);
    // What is played back is old.
    if (at !== null && at <= momentMax && tags.batch === undefined)
      this.#newestAt = Math.max(at, this.#newestAt ?? 0);
    this.heardAt = this.#newestAt ?? this.#options.clock.now();
  }

  /** What a line says about the connection itself. */
  #note(line: IrcLine): void {
    const { command, params, source } = line;
    const isOurs = this.fold(source.nick) === this.fold(this.self.nick);
    switch (command) {
      case "001":
        this.self = { ...this.self, nick: params[0] ?? this.self.nick };
        break;
      case "005":
        for (const token of params.slice(1, -1)) {
          const [name = "", ...value] = token.split("=");
          if (this.supports.size < 200) this.supports.set(name.toUpperCase(), value.join("="));
        }
        break;
      case "376":
      case "422":
        this.#isRegistered = true;
        this.#registered();
        break;
      case "432":
      case "433":
      case "436":
      case "437":
        if (!this.#isRegistered) this.#nextNick(line);
        break;
      case "396":
        this.self = { ...this.self, host: params[1]?.split("@").at(-1) ?? this.self.host };
        break;
      case "900":
        this.self = { ...this.self, account: params[2] ?? null };
        break;
      case "901":
        this.self = { ...this.self, account: null };
        break;
      case "464":
        this.#refuse(
          `the server's password was refused (${reasonOf(line)}). Correct serverPassword`,
        );
        break;
      case "465":
        // Who banned us, and why, comes with the ERROR behind it.
        this.#why = this.#banned(line);
        break;
      case "ERROR":
        if (this.#why?.code === "EAR_CHANNEL_AUTH") this.#end(this.#banned(line));
        else if (!this.#isRegistered) {
          // ngircd denies access with the kind of the ban behind its reason, and nothing before.
          if (/banned|[KGZ]-?lined?\b/i.test(reasonOf(line))) this.#end(this.#banned(line));
          else if (/access denied|bad password/i.test(reasonOf(line)))
            this.#refuse(
              `it refuses us (${reasonOf(line)}). Check serverPassword, or ask its operators`,
            );
        }
        this.#why ??= this.failure(`it closed the connection (${reasonOf(line)})`);
        break;
      case "NICK":
        if (isOurs) this.self = { ...this.self, nick: params[0] ?? this.self.nick };
        break;
      case "CHGHOST":
        if (isOurs) this.self = { ...this.self, user: params[0] ?? null, host: params[1] ?? null };
        break;
      case "JOIN":
        if (isOurs) this.self = { ...this.self, user: source.user, host: source.host };
        break;
    }
  }

  #banned(line: IrcLine): EarshotError {
    const why = `we are banned there (${reasonOf(line)}). Ask its operators`;
    this.#why = this.failure(why, "EAR_CHANNEL_AUTH");
    return this.#why;
  }

  #refuse(why: string): void {
    this.#why = this.failure(why, "EAR_CHANNEL_AUTH");
    this.#end(this.#why);
  }

  #saslFailed(reason: string): void {
    if (reason === "capability_missing") {
      // Services come and go; the network's login is there again with them.
      this.#end(
        this.failure("it offers no login (SASL): its services may be away, or it has none"),
      );
      return;
    }
    this.#refuse(`the login was refused (${reason}). Correct login.account and login.password`);
  }

  /** The next nick to try, no longer than the configured one where that is as long as allowed. */
  #nextNick(line: IrcLine): void {
    const { nick } = this.#options.config;
    this.#nickTries += 1;
    if (this.#nickTries > nickTriesMax) {
      this.#end(this.failure(`no nick was accepted (${line.command} ${reasonOf(line)})`));
      return;
    }
    const tail = this.#nickTries === 1 ? "_" : `_${this.#nickTries}`;
    const base = this.#nickTries <= 2 ? nick : nick.slice(0, Math.max(1, 9 - tail.length));
    this.self = { ...this.self, nick: `${base}${tail}` };
    this.write(`NICK ${this.self.nick}`);
  }
}

/** A socket's error in plain words; its code is kept for who looks it up. */
function connectFailure(code: string): string {
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code);
  if (!certificate) return `the connection failed (${code})`;
  return `its certificate is not valid (${code}). With a self-signed one, set verifyCertificate: false`;
}
