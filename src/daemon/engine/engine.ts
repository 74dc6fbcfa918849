/**
 * The engine of this daemon, where conversations are not stepped by its own hosts
 * ===============================================================================
 * The daemon's runtime admits and routes what comes in, and forwards it. A conversation that is active on this node
 * has a runtime of its own, with the same ports; what it reports is reported by the daemon.
 */

import { hostname } from "node:os";
import type { SharedGaps } from "../../actors/channels/gaps.ts";
import type { NodeSlots } from "../../actors/protocol/conversation-summary.ts";
import { conversationOf, type Forward } from "../../actors/protocol/event-codec.ts";
import type { Runtime, RuntimePorts } from "../../actors/protocol/runtime.ts";
import {
  createRuntimeEvents,
  type RuntimeEvents,
  relayTo,
} from "../../actors/protocol/runtime-events.ts";
import { createRuntime } from "../../actors/runtime/runtime.ts";
import { scheduleRowsOf } from "../../actors/schedules/schedule-rows.ts";
import { wokenKeys } from "../../actors/turns/heartbeats.ts";
import { createNodeSlots } from "../../actors/turns/node-slots.ts";
import { slotLimits } from "../../actors/turns/turn-slots.ts";
import { openKeptStore } from "../../adapters/stores/sqlite-store.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Verdict } from "../../domain/decision.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type {
  ChannelDefinition,
  Clock,
  Ids,
  Log,
  MirrorStore,
  Store,
} from "../../domain/ports/index.ts";
import { within } from "../../domain/ports/within.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { createFailingCalls } from "../../engines/restate/calls/failing-calls.ts";
import { ingressCaller } from "../../engines/restate/calls/ingress-call.ts";
import { createServerWatch } from "../../engines/restate/calls/server-watch.ts";
import { createNodeMirror } from "../../engines/restate/feed/node-mirror.ts";
import { revisionReader } from "../../engines/restate/feed/stored-revisions.ts";
import { createInbox } from "../../engines/restate/inbox.ts";
import { createSharedNews } from "../../engines/restate/leases/news.ts";
import type { NodeFacts } from "../../engines/restate/leases/wire.ts";
import { openNode, type RestateNode } from "../../engines/restate/node.ts";
import { createNodeNumbers } from "../../engines/restate/numbers/node-numbers.ts";
import { createOrders, type Orders } from "../../engines/restate/orders.ts";
import { keepRegistered, registerNodes } from "../../engines/restate/registration.ts";
import { createNodeGaps } from "../../engines/restate/shared/gaps.ts";
import { createNodeSchedules } from "../../engines/restate/shared/schedules.ts";
import { createSharedRows } from "../../engines/restate/shared/shared-rows.ts";
import { createVerdicts } from "../../engines/restate/verdicts.ts";
import { createWaker } from "../../engines/restate/waking.ts";
import { conversationService } from "../../engines/restate/wire.ts";
import type { EngineStatus } from "../api-types/engine.ts";
import type { FramesElsewhere } from "../webchat/pages.ts";
import { type AllNodes, createAllNodes } from "./all-nodes.ts";
import { engineStatus, othersWithCopy, watchedElsewhere } from "./engine-status.ts";
import { createInspections, type Inspections } from "./inspections.ts";
import { createLines } from "./lines.ts";
import { refuseOneMachine } from "./one-machine.ts";
import { sayer } from "./orders.ts";
import { createQuestions, type Questions } from "./questions.ts";
import { createReports } from "./reports.ts";
import { createSharedConnections, type SharedConnections } from "./shared-connections.ts";

export interface EnginePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly config: () => EarshotConfig;
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  /** Reports of conversations that are active here. */
  readonly events: RuntimeEvents;
  /** What is shown: reports of those that are active on other nodes, too. */
  readonly shown: RuntimeEvents;
  /** The copy of the conversations of all nodes; null: this node keeps none. */
  readonly mirror: MirrorStore | null;
  /** Of this process only. */
  readonly boot: string;
  readonly version: string;
  /** Where the pages of this node are; null: it is not known yet. */
  readonly address: () => string | null;
  /** The ports of the daemon's runtime. */
  readonly runtime: () => RuntimePorts;
  /** The daemon's runtime, in front of the engine. */
  readonly front: () => Runtime;
  /** Numbers of the conversations that pages of this node show. */
  readonly watched: () => readonly number[];
}

export interface Engine {
  readonly forward: Forward;
  /** What is ordered of conversations, wherever they are. */
  readonly orders: Orders;
  /** How far an account has read, on whichever node. */
  cursor(channel: string, account: string, identity: string): Promise<string | null>;
  /**
   * Opens this node, makes the server know it, and `store` what all nodes share; then calls `front`. Conversations
   * become active here after that.
   * @throws EarshotError EAR_CONFIG_INVALID, EAR_PORT_TAKEN, EAR_HTTP_FAILED, EAR_HTTP_REFUSED, EAR_STORE_FAILED
   */
  start(store: Store, front: () => Promise<void>): Promise<void>;
  /** The decision on a message; null: none was made in time. */
  verdict(key: string, messageId: string): Promise<Verdict | null>;
  /** A connection of this node came up or went down. */
  connectionChanged(channel: string, account: string): void;
  /** Replaces the config of what is active. @throws EarshotError EAR_CONFIG_INVALID as `start` */
  reload(config: EarshotConfig): Promise<void>;
  /** Conversations that are active here. */
  active(): number;
  /** Lets readers inspect conversations of all nodes. */
  readonly inspections: Pick<Inspections, "inspect" | "uninspect">;
  /** Asks the other nodes what only they know. */
  readonly questions: Pick<Questions, "why" | "serve">;
  /** What pages of the web chat show for a moment, to those of the other nodes and from them. */
  readonly frames: FramesElsewhere;
  /** What the copy says of all nodes; null: there is none. */
  readonly all: AllNodes | null;
  /** Connections that may exist once only. Null: this is the only node. */
  readonly connections: Pick<SharedConnections, "leases" | "outlets"> | null;
  /** What accounts of any node could not recover. */
  readonly gaps: SharedGaps;
  /** Names of the nodes that are known to run; empty where this is the only one. */
  nodes(): readonly string[];
  /** The server, the nodes and who has which connection, to be shown. */
  status(): EngineStatus;
  /** Takes no more conversations; what is active finishes for at most `drainMs`. */
  stop(drainMs: number): Promise<void>;
  /** Called when connections have ended: what is active goes to other nodes, and Restate calls this one no more. */
  leave(): Promise<void>;
}

/** The engine that the config asks for; its kind is not `pool`. */
export function createEngine(ports: EnginePorts): Engine {
  const { clock, log, config } = ports;
  const { ingress, admin, host, port, nodes, identityKeys } = config().engine;
  const inbox = createInbox(trimmed(ingress));
  const call = ingressCaller(trimmed(ingress));
  const orders = createOrders({ clock, ids: ports.ids, call });
  const verdicts = createVerdicts(clock, call);
  const waker = createWaker({ clock, log, call });
  ports.events.add(verdicts.listener);
  const news = createSharedNews(nodes === null);
  const sharing = { clock, log, call, news };
  const shared = createSharedRows({
    ...sharing,
    onChanged: (rows) => ports.front().access().learn(rows),
  });
  const startedAt = clock.now();
  let stops = false;
  const facts = (): NodeFacts => {
    const copy = rows.state();
    return {
      version: ports.version,
      address: ports.address(),
      startedAt,
      stops,
      conversations: active.size,
      turns: slots?.running() ?? 0,
      copy: copy === null ? null : { behind: copy.behind, since: copy.since },
      watched: mirror === null ? [] : ports.watched().slice(0, engineLimits.watchedShown),
    };
  };
  const connections = nodes === null ? null : createSharedConnections({ ...sharing, facts });
  const server = createServerWatch({
    clock,
    log,
    ingress: trimmed(ingress),
    admin: trimmed(admin),
    isAnswered: () => connections?.isAnswered() ?? false,
  });
  const failing = createFailingCalls({
    clock,
    log,
    admin: trimmed(admin),
    object: conversationService,
    handler: "run",
  });
  const ending = new AbortController();
  const nameOf = (own: number) => `${hostname()}:${own}`;
  const leases = connections?.leases ?? null;
  const schedules = createNodeSchedules({ ...sharing, leases });
  const gaps = createNodeGaps(sharing);
  /** The runtimes of active conversations, by their numbers. */
  const active = new Map<number, Runtime>();
  const { mirror } = ports;
  const inspections = createInspections({
    log,
    config,
    mirror,
    active,
    report: (report) => ports.runtime().onInspect?.(report),
    stepped: (step) => ports.shown.emit.stepped?.(step),
  });
  const reports =
    mirror === null ? null : createReports({ log, store: mirror, events: ports.shown });
  const rows = createNodeMirror({
    clock,
    log,
    call,
    boot: ports.boot,
    mirror,
    read: revisionReader(trimmed(admin), conversationService),
    object: conversationService,
    onChanged(keys, fresh) {
      reports?.(keys, fresh);
      inspections.changed(keys);
    },
    deliveries: inspections.deliveries,
    onLine: (line) => ports.shown.emit.line?.(line as unknown as StreamLine),
    onNote: (note) => questions.heard(note),
    onFrame: (frame) => show(frame),
  });
  let show: (frame: unknown) => void = () => undefined;
  const lines = createLines({
    clock,
    watched: () => watchedElsewhere(connections?.seen() ?? null),
    report: (line) => rows.line(line),
  });
  const questions = createQuestions({
    clock,
    log,
    ids: ports.ids,
    publish: (note) => rows.note(note),
    // One without a copy does not follow the others.
    others: () => (mirror === null ? 0 : othersWithCopy(connections?.seen() ?? null)),
  });
  /** Of all that is active here, by the config that is the newest. */
  let slots: NodeSlots | null = null;
  let latest = config();
  /** Steps that may end the process: one at a time, for at most so long. */
  let lastStep: Promise<unknown> = Promise.resolve();
  const alone = (step: () => Promise<void>) => {
    const turn = lastStep.then(async () => void (await within(clock, carefulMsMax, step())));
    lastStep = turn.catch(() => undefined);
    return turn;
  };
  let node: RestateNode | null = null;

  async function know(store: Store): Promise<void> {
    const before = await store.access();
    const now = await shared.load(before);
    const names = new Set(now.map(({ name }) => name));
    const gone = before.filter(({ name }) => !names.has(name));
    const rows = [...now, ...gone.map(({ name }) => ({ name, body: null }))];
    if (rows.length > 0) await store.commit(rows.map((row) => ({ kind: "access", ...row })));
  }

  return {
    forward: {
      events: (events) =>
        Promise.all(
          events.map(async ({ write, event }) => {
            const { at: sentAt, identity, key, messageId } = write;
            const isNew = await inbox.offer(key, { identity, sentAt, messageId, event });
            return isNew ? 1 : 0;
          }),
        ),
      say: sayer(orders),
      schedules,
      shared: (writes) => shared.store(writes),
    },
    orders,
    cursor: (...account) => shared.cursor(...account),
    async start(store, front) {
      refuseOneMachine(config(), ports.channels);
      let open: () => void = () => undefined;
      const ready = new Promise<void>((resolve) => {
        open = resolve;
      });
      node = await openNode({
        ready,
        clock,
        log,
        host,
        port,
        identityKeys,
        retentionMs: () => latest.messages.dedupe.retentionMs,
        open: openKeptStore,
        rows,
        numbers: createNodeNumbers({ clock, call }),
        create(key, own, again) {
          const { conv } = conversationOf(key);
          slots ??= createNodeSlots(slotLimits(() => latest, ports.runtime().workers));
          const runtime = createRuntime({
            ...ports.runtime(),
            config: config(),
            ...own,
            events: createRuntimeEvents(log, relayTo(ports.events), { line: lines.line }),
            reads: undefined,
            workers: 0,
            slots,
            careful: { now: again !== null, alone, handedOver: again ?? (() => 0) },
            housekeeping: false,
            schedules: () => ports.front().schedules(),
            heartbeats: (one) => one === key,
            access: () => ports.front().access(),
          });
          active.set(conv, runtime);
          const stop: Runtime["stop"] = (options) => {
            if (active.get(conv) === runtime) active.delete(conv);
            lines.left(key);
            return runtime.stop(options).finally(() => inspections.changed([key]));
          };
          const start: Runtime["start"] = async () => {
            await runtime.start();
            if (active.get(conv) === runtime) inspections.started(conv, runtime);
          };
          return { ...runtime, start, stop };
        },
        onSaid: ({ level, target, message }) => {
          if (level === "warn" || level === "error")
            log("warn", "engine.said", { target, message });
        },
      });
      // Before anything is asked of it: pages and status say what a start waits for.
      server.start();
      const uri = nodes ?? `http://${host}:${node.port}`;
      await registerNodes(trimmed(admin), uri);
      const { serves } = node;
      const registration = { clock, log, admin: trimmed(admin), uri, serves };
      void keepRegistered(registration, ending.signal);
      failing.start();
      connections?.start(nameOf(node.port));
      rows.start();
      await know(store);
      await schedules.load(await scheduleRowsOf(store, config()));
      await front();
      shared.start();
      gaps.start();
      schedules.start();
      open();
      void waker.wake(wokenKeys(config()));
    },
    verdict: (key, messageId) => verdicts.of(key, messageId),
    connectionChanged(channel, account) {
      for (const runtime of active.values()) runtime.connectionChanged(channel, account);
    },
    async reload(next) {
      refuseOneMachine(next, ports.channels);
      latest = next;
      await Promise.all([...active.values()].map((runtime) => runtime.reload(next)));
      void waker.wake(wokenKeys(next));
    },
    active: () => active.size,
    inspections,
    questions,
    frames: {
      // A node that has no others reports to nobody.
      report: (frame) => void (nodes !== null && rows.frame(frame)),
      hear: (listener) => {
        show = listener;
      },
    },
    all: mirror === null ? null : createAllNodes({ clock, mirror, config, active: () => active }),
    connections,
    gaps,
    nodes: () => connections?.nodes() ?? [],
    status: () =>
      engineStatus({
        now: clock.now(),
        config: { ingress, admin, nodes },
        server: server.state(),
        own: { node: nameOf(node?.port ?? port), facts: facts() },
        copy: rows.state(),
        calls: failing.list(),
        seen: connections?.seen() ?? null,
        leases: connections?.failing() ?? null,
      }),
    async stop(drainMs) {
      waker.stop();
      stops = true;
      await Promise.all([schedules.stop(), node?.drain(drainMs)]);
      shared.stop();
    },
    async leave() {
      ending.abort();
      lines.stop();
      await Promise.all([connections?.stop(), gaps.stop()]);
      await Promise.all([server.stop(), failing.stop()]);
      await node?.close();
      await rows.stop();
    },
  };
}

/** A conversation that was cut off in its step holds the others up for no longer, ms. */
const carefulMsMax = 5_000;

const trimmed = (url: string) => url.replace(/\/$/u, "");
