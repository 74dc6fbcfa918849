/**
 * A loopback proxy in front of a real server of a platform whose wire is lines or stanzas over TCP, so
 * that the network can fail between the adapter and the server: cut, reset, hang, slow, drop,
 * duplicate, reorder, garbage. What passes is looked at line by line, in order, in each direction.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What becomes of a line. `reset`: it is swallowed and both connections break. */
type Fate = "drop" | "duplicate" | "swap" | "reset";
/** Looks at a line that then passes, unless it says "drop"; what it waits for, all lines behind it wait for. */
type Act = Fate | ((line: string) => Promise<void> | "drop" | void);

/** What passes in one direction. */
export interface Flow {
  /** Happens to the next line that matches. */
  next(match: RegExp, act: Act): void;
  /** Sends something that the other side never wrote. */
  inject(data: string | Buffer): void;
  /** Every line waits so long. */
  slowMs: number;
}

export interface TcpProxy {
  readonly port: number;
  readonly toServer: Flow;
  readonly toClient: Flow;
  /** How often a client has connected. */
  readonly connects: () => number;
  /** Breaks every connection and refuses new ones until `restore`. */
  cut(): void;
  restore(): void;
  /** Breaks every connection; new ones are taken. */
  reset(): void;
  /** Nothing passes any more, and nothing is closed; false: what was held passes. */
  hang(on: boolean): void;
  close(): Promise<void>;
}

interface Rule {
  readonly match: RegExp;
  readonly act: Act;
}

class Direction implements Flow {
  slowMs = 0;
  readonly rules: Rule[] = [];
  readonly targets = new Set<Socket>();

  next(match: RegExp, act: Act): void {
    this.rules.push({ match, act });
  }

  inject(data: string | Buffer): void {
    for (const target of this.targets) target.write(data);
  }
}

/** The length of the first whole line of what came; 0: there is none yet. */
const lineLength = (data: Buffer): number => data.indexOf(10) + 1;

/**
 * Starts a proxy on a free port.
 * @param unitLength what is a line on this wire: the length of the first whole one, or 0
 */
export async function startTcpProxy(
  target: { readonly port: number },
  unitLength: (data: Buffer) => number = lineLength,
): Promise<TcpProxy> {
  const [toServer, toClient] = [new Direction(), new Direction()];
  const pairs = new Set<readonly [Socket, Socket]>();
  const state = { isCut: false, connects: 0, hung: null as Promise<void> | null };
  let release: () => void = () => undefined;
  const server = createServer((client) => {
    if (state.isCut) {
      client.resetAndDestroy();
      return;
    }
    state.connects += 1;
    const upstream = connect({ host: "127.0.0.1", port: target.port });
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      toServer.targets.delete(upstream);
      toClient.targets.delete(client);
      for (const socket of pair) socket.destroy();
    };
    toServer.targets.add(upstream);
    toClient.targets.add(client);
    const shared = { unitLength, hung: () => state.hung, end };
    pump(client, upstream, toServer, shared);
    pump(upstream, client, toClient, shared);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const reset = () => {
    for (const pair of [...pairs]) for (const socket of pair) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    toServer,
    toClient,
    connects: () => state.connects,
    reset,
    cut() {
      state.isCut = true;
      reset();
    },
    restore() {
      state.isCut = false;
    },
    hang(on) {
      release();
      state.hung = on
        ? new Promise((resolve) => {
            release = resolve;
          })
        : null;
    },
    async close() {
      release();
      reset();
      server.close();
      await once(server, "close");
    },
  };
}

/** Passes lines on, one after the other. */
function pump(
  from: Socket,
  to: Socket,
  flow: Direction,
  {
    unitLength,
    hung,
    end,
  }: {
    readonly unitLength: (data: Buffer) => number;
    readonly hung: () => Promise<void> | null;
    readonly end: () => void;
  },
): void {
  let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let held: Buffer | null = null;
  let working: Promise<void> = Promise.resolve();
  const write = (line: Buffer) => {
    if (!to.destroyed) to.write(line);
  };
  const pass = async (line: Buffer) => {
    await hung();
    if (flow.slowMs > 0) await new Promise((resolve) => setTimeout(resolve, flow.slowMs));
    const text = line.toString("utf8");
    const at = flow.rules.findIndex(({ match }) => match.test(text));
    const [rule] = at < 0 ? [] : flow.rules.splice(at, 1);
    if (rule === undefined || rule.act === "duplicate" || typeof rule.act === "function") {
      if (typeof rule?.act === "function" && (await rule.act(text)) === "drop") return;
      write(line);
      if (rule?.act === "duplicate") write(line);
      if (held !== null) write(held);
      held = null;
    } else if (rule.act === "swap") held = line;
    else if (rule.act === "reset") end();
  };
  from.on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    for (let length = unitLength(rest); length > 0; length = unitLength(rest)) {
      const line = Buffer.from(rest.subarray(0, length));
      rest = rest.subarray(length);
      working = working.then(() => pass(line));
    }
  });
  from.on("error", () => undefined);
  from.on("close", () => void working.then(end));
}
