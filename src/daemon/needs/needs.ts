/**
 * What needs a person
 * ===================
 * Every problem that only a person can decide is one entry here, and ends by itself when it is over:
 * nothing is remembered that its source does not say. The Health page, `earshot needs`,
 * `earshot status`, the API and the metric all read this list.
 */
import type { ConnectionStatus } from "../../actors/channels/account-connection.ts";
import type { Runtime, RuntimeStatus } from "../../actors/protocol/runtime.ts";
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import { type EarshotConfig, secretValues } from "../../domain/config/index.ts";
import type { AgentDriver, Clock, ConfigLayers, Store } from "../../domain/ports/index.ts";
import { type KnownPeople, noKnownPeople } from "../../machines/access/access-entries.ts";
import type { EngineStatus } from "../api-types/engine.ts";
import type { Need, NeedAct, NeedsAnswer } from "../api-types/needs.ts";
import type { ConfigState } from "../config/config-source.ts";
import { allowGroup } from "./allow-group.ts";
import {
  agentNeeds,
  configNeeds,
  connectionNeeds,
  daemonNeeds,
  deliveryNeeds,
  engineNeeds,
  gapNeeds,
  overrideNeeds,
  pairingNeeds,
  quarantineNeeds,
  refusalNeeds,
  scheduleNeeds,
} from "./entries.ts";
import { createRefusals } from "./refusals.ts";
import { createTrials, type Trial } from "./trials.ts";

export interface NeedsPorts {
  readonly clock: Clock;
  readonly store: Pick<Store, "outboxByState">;
  readonly config: () => EarshotConfig;
  readonly configState: ConfigState;
  readonly layers: ConfigLayers;
  readonly runtime: Pick<
    Runtime,
    "status" | "access" | "resend" | "drop" | "retryEvent" | "dropEvent" | "schedules"
  >;
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  readonly connections: () => readonly ConnectionStatus[];
  /** A person has seen what an account could not recover. */
  readonly forgetGap: (id: string) => boolean;
  readonly retryConnection: (channel: string, account: string) => Promise<boolean>;
  /** A channel's name for people. */
  readonly nameOf: (channel: string) => string;
  /** Null: the daemon keeps the conversations itself. */
  readonly engine: () => EngineStatus | null;
  /** A room's name for people; complete once `load` has read the store. */
  readonly rooms: { titleOf(key: string): string; load(): Promise<void> };
}

export interface Needs {
  readonly listener: RuntimeListener;
  read(): Promise<NeedsAnswer>;
  count(): Promise<number>;
  /**
   * Does one action of one need. `unknown`: there is no such need, or it is over; `no-action`: it has
   * no such action; `failed`: the action did nothing, because it is over; else why it did not help.
   * @throws EarshotError when what it does is refused.
   */
  act(
    id: string,
    action: string,
  ): Promise<"done" | "unknown" | "no-action" | "failed" | { readonly refused: string }>;
}

export const needsShownMax = 50;
/** Who has done it, in the access list: a caller of the API acts as the console. */
const console = "console";

export function createNeeds(ports: NeedsPorts): Needs {
  const { clock, config, runtime } = ports;
  const isStarted = () => runtime.status().ready;
  const known = (): KnownPeople => (isStarted() ? runtime.access() : noKnownPeople);
  const refusals = createRefusals({ clock, config, known });
  const { drivers } = ports;
  const trials = createTrials({ clock, config, drivers, failing: () => runtime.status().failing });

  async function all(): Promise<readonly Need[]> {
    const status = runtime.status();
    const engine = ports.engine();
    if (engine?.problems.some(({ key }) => key !== null)) await ports.rooms.load();
    return [
      ...daemonNeeds(status),
      ...engineNeeds(engine, (key) => ports.rooms.titleOf(key)),
      ...configNeeds(ports.configState.refused(), secretValues(config())),
      ...connectionNeeds(ports.connections(), ports.nameOf),
      ...gapNeeds(ports.connections(), ports.nameOf),
      ...agentNeeds(trials.unanswered(), config(), trials.canTry),
      ...refusalNeeds(refusals.list(), ports.nameOf),
      ...pairingNeeds(isStarted() ? runtime.access().list().pairings : [], ports.nameOf),
      ...overrideNeeds(ports.configState.hiding()),
      ...(await stored(ports, status)),
      ...scheduleNeeds(status),
    ];
  }

  return {
    listener: refusals.listener,
    async read() {
      const needs = await all();
      const more = Math.max(0, needs.length - needsShownMax);
      return { needs: needs.slice(0, needsShownMax), more };
    },
    count: async () => (await all()).length,
    async act(id, action) {
      const need = (await all()).find((one) => one.id === id);
      if (need === undefined) return "unknown";
      if (!need.acts.some((act: NeedAct) => act.action === action)) return "no-action";
      if (need.kind === "agent") return outcomeOf(await trials.run(need.agentId));
      const refused = { ignore: () => refusals.ignore(id) };
      return (await carryOut(need, action, ports, refused)) ? "done" : "failed";
    },
  };
}

/** Deliveries and events that wait for a decision, with the names of their rooms. */
async function stored({ store, rooms }: NeedsPorts, status: RuntimeStatus): Promise<Need[]> {
  const rows = await store.outboxByState(["in-doubt", "dead"], 2 * needsShownMax);
  if (rows.length + status.quarantined.length > 0) await rooms.load();
  const titleOf = (key: string) => rooms.titleOf(key);
  return [...deliveryNeeds(rows, titleOf), ...quarantineNeeds(status, titleOf)];
}

function outcomeOf(trial: Trial): "done" | "failed" | { readonly refused: string } {
  if (typeof trial === "object") return trial;
  return trial === "answers" ? "done" : "failed";
}

/** False: it was over. */
async function carryOut(
  need: Need,
  action: string,
  { runtime, retryConnection, forgetGap, layers, configState }: NeedsPorts,
  { ignore }: { ignore(): void },
): Promise<boolean> {
  switch (need.kind) {
    case "delivery":
      return action === "resend" ? runtime.resend(need.id) : runtime.drop(need.id);
    case "connection":
      return retryConnection(need.channel, need.account);
    case "gap":
      return forgetGap(need.id);
    case "quarantine":
      if (action === "drop") return runtime.dropEvent(need.seq, need.key);
      return (await runtime.retryEvent(need.seq, need.key)) === "retried";
    case "schedule":
      if (action === "pause") return runtime.schedules().pause(need.name, true);
      return (await runtime.schedules().remove(need.name)) === "removed";
    case "pairing":
      if (action === "decline") return runtime.access().revokePairing(need.code);
      return (await runtime.access().approve(need.code, console)).outcome === "approved";
    case "override":
      return (await layers.unset(need.layer, need.path)).length > 0;
    case "refused": {
      if (action === "ignore") {
        ignore();
        return true;
      }
      const { channel, account, chat, person, direct } = need;
      if (person !== null) {
        const scope = direct ? "direct" : "group";
        return runtime.access().allow({ channel, account, id: person, scope }, console);
      }
      await allowGroup(configState.file, { channel, chat });
      return true;
    }
    default:
      return false;
  }
}
