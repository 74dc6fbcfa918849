/**
 * Dependencies of the routes
 * ==========================
 * The routes use the daemon only through this interface, so each can be tested with its own runtime.
 */
import type { ConnectionStatus } from "../../../actors/channels/account-connection.ts";
import type { Runtime } from "../../../actors/protocol/runtime.ts";
import type { RuntimeEvents } from "../../../actors/protocol/runtime-events.ts";
import type { Why } from "../../../actors/protocol/why.ts";
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
import type { EngineStatus } from "../../api-types/engine.ts";
import type { CheckStep } from "../../checks/live/everything.ts";
import type { ClientAddresses } from "../../http/client-address.ts";
import type { Inspector } from "../../inspector/inspector.ts";
import type { Needs } from "../../needs/needs.ts";
import type { HealthService } from "../../observability/health.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { TuneLabels } from "../../quality/tune-labels.ts";
import type { RoomList } from "../../room-list/room-list.ts";
import type { RoomViews } from "../../room-view/room-views.ts";
import type { Search } from "../../search/search.ts";
import type { Settings } from "../../setup/settings.ts";
import type { Setup } from "../../setup/setup.ts";
import type { TokenReader } from "../../state/token.ts";
import type { Webchat } from "../../webchat/webchat.ts";
import type { WhatIfService } from "../../what-if/what-if.ts";

/** The result of a simulation. */
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
  /** Connects a halted account again. False: the account is unknown or not halted. */
  retryConnection(channel: string, account: string): Promise<boolean>;
  /** The hook of an account; null: it has none. */
  hook(channel: string, account: string): ChannelHook | null;
  readonly health: HealthService;
  /** The engine that keeps conversations outside of the daemon; null: there is none. */
  engineStatus(): EngineStatus | null;
  /** Why conversations cannot be read on this node, and what to do; null: they can. */
  noCopy(): string | null;
  readonly needs: Pick<Needs, "read" | "act">;
  readonly setup: Setup;
  readonly settings: Settings;
  /** Checks everything; resolves at the end. */
  check(onStep: (step: CheckStep) => void): Promise<void>;
  /** Inspects conversations. */
  readonly inspector: Pick<Inspector, "tickets" | "page">;
  /** The list of rooms. */
  readonly roomList: RoomList;
  /** Finds messages. */
  readonly search: Pick<Search, "find">;
  /** Shows one room. */
  readonly roomViews: RoomViews;
  readonly whatIf: WhatIfService;
  readonly tuneLabels: TuneLabels;
  /** Uploads of the web chat. */
  readonly webchat: Pick<Webchat, "uploads" | "problem">;
  webhookSent(account?: string): readonly WebhookSent[];
  /** All commands, in the order of help. */
  commands(): readonly OfferedCommand[];
  /** `explain`: messages to explain. @default all */
  simulate(lines: readonly unknown[], explain?: readonly string[]): Promise<Simulated>;
  /**
   * Why messages are not accepted, besides the runtime's reasons (starting, stopping); null: they are.
   */
  problem(): string | null;
}
