/**
 * What the server needs
 * =====================
 * The routes see the daemon only through this, so each of them can be tried with a runtime made for
 * it.
 */
import type { ConnectionStatus } from "../../../actors/channels/account-connection.ts";
import type { Runtime, Why } from "../../../actors/protocol/runtime.ts";
import type { RuntimeEvents } from "../../../actors/protocol/runtime-events.ts";
import type { WebhookSent } from "../../../adapters/channels/webhook/channel.ts";
import type { Millis } from "../../../domain/message.ts";
import type {
  ChannelDefinition,
  ChannelHook,
  Clock,
  Log,
  Store,
} from "../../../domain/ports/index.ts";
import type { StreamLine } from "../../../domain/stream.ts";
import type { OfferedCommand } from "../../../machines/commands/help.ts";
import type { ClientAddresses } from "../../http/client-address.ts";
import type { Inspector } from "../../inspector/inspector.ts";
import type { HealthService } from "../../observability/health.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { RoomList } from "../../room-list/room-list.ts";
import type { RoomViews } from "../../room-view/room-views.ts";
import type { TokenReader } from "../../state/token.ts";
import type { Webchat } from "../../webchat/webchat.ts";
import type { WhatIfService } from "../../what-if/what-if.ts";

/** What a simulated room did. */
export interface Simulated {
  readonly lines: readonly StreamLine[];
  readonly why: Readonly<Record<string, Why>>;
}

export interface RouteDeps {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly events: Pick<RuntimeEvents, "add">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly readToken: TokenReader;
  readonly clients: ClientAddresses;
  readonly version: string;
  readonly startedAt: Millis;
  readonly stateDir: string;
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  connections(): readonly ConnectionStatus[];
  /** Opens a halted account once more. False: there is no such halted one. */
  retryConnection(channel: string, account: string): Promise<boolean>;
  /** What an account takes by post; null where there is no such thing. */
  hook(channel: string, account: string): ChannelHook | null;
  readonly health: HealthService;
  /** Looking into conversations. */
  readonly inspector: Pick<Inspector, "tickets" | "page">;
  /** The list of rooms. */
  readonly roomList: RoomList;
  /** Reading along in one room. */
  readonly roomViews: RoomViews;
  readonly whatIf: WhatIfService;
  /** Files for the chat of the pages. */
  readonly webchat: Pick<Webchat, "uploads" | "problem">;
  webhookSent(account?: string): readonly WebhookSent[];
  /** The table of commands with further ones, in the order of help. */
  commands(): readonly OfferedCommand[];
  /** `explain`: the messages whose ladder is wanted; left out: all. */
  simulate(lines: readonly unknown[], explain?: readonly string[]): Promise<Simulated>;
  /**
   * Why messages cannot be taken beyond what the runtime knows (starting, stopping); null: they
   * can.
   */
  problem(): string | null;
}
