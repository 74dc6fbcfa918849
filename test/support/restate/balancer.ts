/**
 * One address for several nodes, as a load balancer's: each connection goes to the next node that takes it. A
 * connection ends with its node.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

export async function openBalancer(nodes: readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    open.add(client);
    client.once("close", () => open.delete(client));
    // Who has gone is of no interest: both ends are closed.
    client.on("error", () => client.destroy());
    const attempt = (left: number) => {
      if (left === 0) return client.destroy();
      turn += 1;
      const node = connect(nodes[turn % nodes.length] as number, "127.0.0.1");
      const next = () => attempt(left - 1);
      node.once("error", next);
      node.once("connect", () => {
        node.off("error", next);
        node.on("error", () => client.destroy());
        client.pipe(node).pipe(client);
      });
      client.once("close", () => node.destroy());
      node.once("close", () => {
        if (node.bytesRead + node.bytesWritten > 0) client.destroy();
      });
    };
    attempt(nodes.length);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
