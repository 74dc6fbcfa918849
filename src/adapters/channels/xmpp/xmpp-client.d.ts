/** The part of @xmpp/client 0.14 that the channel uses; the package has no types. */
declare module "@xmpp/client" {
  export interface Element {
    readonly name: string;
    readonly attrs: Readonly<Record<string, string | undefined>>;
    children: (Element | string)[];
    is(name: string, xmlns?: string): boolean;
    getNS(): string | undefined;
    getChild(name: string, xmlns?: string): Element | undefined;
    getChildren(name: string, xmlns?: string): Element[];
    getChildElements(): Element[];
    text(): string;
    toString(): string;
  }

  type Content = Element | string | undefined;

  export function xml(
    name: string,
    attrs?: Readonly<Record<string, string | undefined>>,
    ...children: readonly Content[]
  ): Element;

  /** A way to connect; chosen by the address of the service. */
  export interface Transport {
    readonly prototype: {
      socketParameters(service: string): object | undefined;
      Socket: new () => object;
    };
    new (): object;
  }

  export interface ClientOptions {
    readonly service: string;
    readonly domain: string;
    readonly username: string;
    readonly password: string;
    readonly resource: string | undefined;
    /** For each step of connecting, ms. */
    readonly timeout: number;
  }

  export interface Client {
    readonly transports: Transport[];
    readonly jid: { toString(): string } | null;
    readonly reconnect: { stop(): void };
    readonly iqCallee: {
      get(xmlns: string, name: string, handler: () => Element): void;
    };
    /** Resolves when the login is complete. */
    start(): Promise<unknown>;
    stop(): Promise<unknown>;
    /** Opens the stream again, after TLS. */
    restart(): Promise<unknown>;
    send(element: Element): Promise<void>;
    write(text: string): Promise<void>;
    on(event: "error", listener: (error: Error) => void): void;
    on(event: "close" | "disconnect", listener: () => void): void;
    prependListener(event: "element", listener: (element: Element) => void): void;
    emit(event: "error", error: Error): boolean;
  }

  export function client(options: ClientOptions): Client;
}
