/** The part of irc-framework 4.14 that the channel uses; the package has no types. */
declare module "irc-framework" {
  interface ParsedLine {
    readonly tags: Readonly<Record<string, string>>;
    readonly prefix: string;
    readonly command: string;
    readonly params: readonly string[];
  }

  /** Null: an empty line. */
  export function ircLineParser(line: string): ParsedLine | null;

  export interface ConnectOptions {
    readonly host: string;
    readonly port: number;
    readonly nick: string;
    readonly username: string;
    readonly gecos: string;
    /** The server's password. */
    readonly password?: string;
    /** Of the login by SASL. Without fields: no login; left out: with the server's password. */
    readonly account: { readonly account?: string; readonly password?: string };
    /** Answer to CTCP VERSION; empty: none. */
    readonly version: string;
    readonly auto_reconnect: boolean;
    readonly enable_echomessage: boolean;
    readonly enable_chghost: boolean;
    /** Seconds. */
    readonly ping_interval: number;
    readonly ping_timeout: number;
    /** A class that the library makes one of for each connection. */
    readonly transport: unknown;
  }

  export class Client {
    requestCap(names: readonly string[]): void;
    connect(options: ConnectOptions): void;
    /** Writes one line. */
    raw(line: string): void;
    on(event: "sasl failed", listener: (event: { readonly reason: string }) => void): void;
    on(event: "ping timeout", listener: () => void): void;
    /** The time of `ping_timeout` begins again. */
    resetPingTimeoutTimer(): void;
    removeAllListeners(): void;
    readonly network: { readonly cap: { readonly enabled: readonly string[] } };
    readonly connection: { clearTimers(): void };
  }
}
