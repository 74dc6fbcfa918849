/** What stands between a program and the ingress of Restate, or another server, and may do anything to a call. */
import { once } from "node:events";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { Loopback } from "../servers/loopback.ts";

export interface Passing {
  readonly url: string;
  readonly body: string;
  /** Makes the call; resolves when it is answered. The program gets no answer. */
  make(): Promise<void>;
}

export class IngressProxy {
  readonly #server: Loopback;
  readonly #ingress: string;
  /** Asked before each call: true, it was taken care of, and the program gets no answer. */
  take: (call: Passing) => Promise<boolean> = async () => false;

  private constructor(ingress: string) {
    this.#ingress = ingress;
    this.#server = new Loopback((asked, response) => this.#serve(asked, response));
  }

  static async open(ingress: string): Promise<IngressProxy> {
    const proxy = new IngressProxy(ingress);
    await proxy.#server.up();
    return proxy;
  }

  get url(): string {
    return this.#server.url;
  }

  close(): Promise<void> {
    return this.#server.down();
  }

  async #serve(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers, url = "" } = asked;
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const pass = () => {
      const passed = request(`${this.#ingress}${url}`, { method, headers });
      passed.end(body);
      return passed;
    };
    const make = async () => {
      const [answer] = (await once(pass(), "response")) as [IncomingMessage];
      await once(answer.resume(), "end");
    };
    if (await this.take({ url, body: body.toString(), make })) return void response.destroy();
    const passed = pass();
    passed.on("error", () => response.destroy());
    passed.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on("close", () => passed.destroy());
  }
}
