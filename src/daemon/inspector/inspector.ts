/**
 * `/inspect/ws`: the statecharts of conversations, deliveries, hosts and connections, live, in the format of the Stately inspector and
 * of the receiver of @statelyai/inspect. Hosts report only inspected conversations, and omit texts
 * unless a reader asked for them. The server has checked Host and Origin.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { RuntimeEvents } from "../../actors/protocol/runtime-events.ts";
import { createStatelyWire, statelyDefinition } from "../../adapters/inspectors/stately.ts";
import { hash52 } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type {
  Clock,
  InspectReport,
  InspectRequest,
  Log,
  SideReport,
} from "../../domain/ports/index.ts";
import { connectionMachine } from "../../machines/connection.machine.ts";
import { conversationMachine } from "../../machines/conversation.machine.ts";
import { deliveryMachine } from "../../machines/delivery.machine.ts";
import { hostMachine } from "../../machines/host.machine.ts";
import type { Metrics } from "../observability/metrics.ts";
import { checkedKey } from "../room-view/room-views.ts";
import type { TokenReader } from "../state/token.ts";
import { sameSecret } from "../state/token.ts";
import { type InspectReader, serveReader } from "./inspector-socket.ts";
import { SideInspection } from "./side-inspection.ts";
import { type AllowedRequest, createTickets, type Tickets } from "./tickets.ts";

export interface InspectorPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<RuntimeEvents, "add">;
  readonly metrics: Pick<Metrics, "streamReaders" | "streamDropped">;
  readonly readToken: TokenReader;
  /** The inspector that the page sends frames to. */
  readonly page: string;
  inspect(order: InspectRequest): void;
  uninspect(reader: number): void;
}

export interface Inspector {
  readonly tickets: Pick<Tickets, "create">;
  readonly page: string;
  /** Accepts a socket for `/inspect/ws`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Receives the frames of a host. */
  report(report: InspectReport): void;
  close(): void;
}

/** A hello is a token and a key. */
const helloBytesMax = 4_096;

export function createInspector(ports: InspectorPorts): Inspector {
  const { clock, log, events, metrics, readToken } = ports;
  const tickets = createTickets(clock, readToken);
  const framesOf = createStatelyWire({
    conversation: statelyDefinition(conversationMachine.config),
    delivery: statelyDefinition(deliveryMachine.config),
    host: statelyDefinition(hostMachine.config),
    connection: statelyDefinition(connectionMachine.config),
  });
  const send = (report: InspectReport | SideReport) => {
    for (const { readers: ids, json } of framesOf(report, clock.now()))
      for (const id of ids) readers.get(id)?.send(json);
  };
  const sides = new SideInspection(send);
  events.add({ stepped: (step) => sides.stepped(step) });
  const readers = new Map<number, InspectReader>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: helloBytesMax,
    perMessageDeflate: false,
  });
  let count = 0;

  function serve(page: Parameters<typeof serveReader>[0], wish: AllowedRequest | null): void {
    count += 1;
    const id = count;
    const reader = serveReader(page, wish, {
      clock,
      log,
      readToken,
      opened({ key, words }) {
        const conv = key === null ? null : hash52(checkedKey(key));
        readers.set(id, reader);
        metrics.streamReaders.set({ reader: "inspect" }, readers.size);
        const order = { id, conv, withText: words };
        ports.inspect(order);
        sides.begin(order);
      },
      closed(slow) {
        if (slow) metrics.streamDropped.inc({ reader: "inspect" });
        if (slow) log("warn", "inspect.reader-dropped", {});
        if (!readers.delete(id)) return;
        metrics.streamReaders.set({ reader: "inspect" }, readers.size);
        ports.uninspect(id);
        sides.stop(id);
      },
    });
  }

  return {
    tickets,
    page: ports.page,
    upgrade(request, socket, head) {
      socket.on("error", (error) => log("debug", "inspect.socket-error", { error }));
      void claimOf(request, tickets, readToken).then((claim) => {
        const full = sockets.clients.size >= limits.inspectReadersMax;
        if (claim === "refused") return refuse(socket, "401 Unauthorized");
        if (full) return refuse(socket, "503 Service Unavailable");
        sockets.handleUpgrade(request, socket, head, (page) => serve(page, claim));
      });
    },
    report: send,
    close() {
      for (const page of sockets.clients) page.close(1_001, "stopping");
      sockets.close();
    },
  };
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** What the request itself allows; null: nothing, and the client must send hello. */
async function claimOf(
  request: IncomingMessage,
  tickets: Tickets,
  readToken: TokenReader,
): Promise<AllowedRequest | null | "refused"> {
  const { searchParams } = new URL(request.url ?? "/", "http://host");
  const ticket = searchParams.get("ticket");
  if (ticket !== null) return tickets.redeem(ticket) ?? "refused";
  const header = request.headers.authorization;
  if (header === undefined) return null;
  const token = await readToken().catch(() => null);
  const sent = header.startsWith("Bearer ") ? header.slice("Bearer ".length) : "";
  if (token === null || !sameSecret(sent, token)) return "refused";
  return { token, key: searchParams.get("key"), words: searchParams.get("words") === "1" };
}
