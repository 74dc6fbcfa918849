/**
 * The parts of the runtime
 * ========================
 * Creates them in the order in which they need each other. Cycles (the journal feeds the hosts,
 * whose results are journalled) are closed by late look-ups of `parts`, so every part gets only
 * what it may use.
 */

import { parseSessionKey } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { AccessRow } from "../../domain/ports/index.ts";
import type { StreamLine } from "../../domain/stream.ts";
import { resetPolicy } from "../../machines/routing/session-policy.ts";
import { openAccessStore } from "../access/access-store.ts";
import { createTyping } from "../channels/typing-indicators.ts";
import { restartNoticeWrites } from "../commands/restart-notice.ts";
import { decidedEvents } from "../effects/decided-events.ts";
import { createWaiters } from "../effects/decision-waiters.ts";
import { createEffects } from "../effects/effect-executor.ts";
import { hookListener } from "../effects/hook-listener.ts";
import { forSiblings } from "../ingress/sibling-agents.ts";
import { openStartGate, readStepping, type Stepping } from "../journal/careful-start.ts";
import { createCheckpointer } from "../journal/checkpointer.ts";
import { type Configs, openConfigs } from "../journal/config-versions.ts";
import { createDeadlines } from "../journal/deadlines.ts";
import { createForwardingJournal } from "../journal/forwarding-journal.ts";
import { createJournal, type Journal } from "../journal/journal.ts";
import { loadActivation } from "../journal/load-conversation.ts";
import { createQuarantine, readQuarantine } from "../journal/quarantine.ts";
import { createJudges } from "../judge/judge.ts";
import { createSpending } from "../judge/spending.ts";
import { createOutbox } from "../outbox/outbox.ts";
import { createHooks } from "../outbox/plugin-hooks.ts";
import { approvalRequest } from "../protocol/context-tool-schemas.ts";
import { newEvent } from "../protocol/event-codec.ts";
import type { QuarantinedEvent, RuntimePorts } from "../protocol/runtime.ts";
import type { Effects, Supervisor, SupervisorPorts } from "../protocol/supervisor.ts";
import { useScheduleTool } from "../schedules/schedule-tool.ts";
import { createSessionStart } from "../sessions/session-start.ts";
import { createSupervisor } from "../supervisor/supervisor.ts";
import { textWithFiles } from "../turns/attachment-names.ts";
import { createContextTools } from "../turns/context-tools.ts";
import { deletedSince } from "../turns/deletions.ts";
import { createDueDeadlines } from "../turns/due-deadlines.ts";
import { createFailingAgents } from "../turns/failing-agents.ts";
import { createHeartbeats } from "../turns/heartbeats.ts";
import { createMedia } from "../turns/media.ts";
import { createOutgoing } from "../turns/outgoing.ts";
import { readOverheard } from "../turns/read-messages.ts";
import { reportRows } from "../turns/report-rows.ts";
import { createSentPrompts } from "../turns/sent-prompts.ts";
import { createTurnSlots, slotLimits } from "../turns/turn-slots.ts";
import { eventLoop } from "../util/scheduling.ts";
import { createApprovalService, createExecutor } from "./command-assembly.ts";
import type { Parts } from "./parts.ts";
import { assembleSchedules } from "./schedule-assembly.ts";
import { createSessionParts } from "./session-assembly.ts";
import { createSpeaker } from "./speaker.ts";
import { assembleTurns } from "./turn-assembly.ts";

/** Epochs of one start; later starts always have higher ones. */
const epochsPerStart = 2 ** 20;

/** Opens the store's side and creates all parts; nothing runs yet. */
export async function createParts(ports: RuntimePorts): Promise<Parts> {
  const { store } = ports;
  const boot = Number((await store.meta("boot")) ?? 0) + 1;
  const { configs, pending } = await openConfigs(store, ports.config, {
    isShared: ports.numbers !== undefined,
  });
  const start = { kind: "start", boot } as const;
  const back = await restartNoticeWrites(store, ports.clock.now());
  await store.commit([...(pending === null ? [] : [pending]), start, ...back]);
  const lastSeq = await store.lastSeq();
  const [accessEntries, quarantined] = [await store.access(), await readQuarantine(store)];
  const stepping = await readStepping(store);
  const found = { boot, lastSeq, configs, accessEntries, quarantined, stepping };
  return new Assembly(ports, found).parts;
}

type Quarantined = Parameters<SupervisorPorts["onQuarantine"]>[0];

/** What the store held at start. */
interface Found {
  readonly boot: number;
  readonly lastSeq: number;
  readonly configs: Configs;
  readonly accessEntries: readonly AccessRow[];
  readonly quarantined: readonly QuarantinedEvent[];
  readonly stepping: Stepping | null;
}

class Assembly {
  readonly parts: Parts;
  readonly #ports: RuntimePorts;
  readonly #agents = new Map<string, string>();

  constructor(ports: RuntimePorts, found: Found) {
    const { boot, lastSeq, configs, accessEntries, quarantined } = found;
    this.#ports = ports;
    const { store, directory, clock, log, scheduler = eventLoop } = ports;
    const startGate = openStartGate(ports.careful, {
      supervisor: () => this.parts.supervisor,
      journal: () => this.parts.journal,
      quarantine: (culprit) => this.#quarantine(culprit),
      before: found.stepping,
    });
    const { events } = ports;
    const own = createJournal({
      clock,
      log,
      store,
      lastSeq,
      startGate,
      onHealth: (error) => this.#system({ system: "store", working: error === null }),
      scheduler,
      events,
    });
    const journal = ports.forward === undefined ? own : createForwardingJournal(own, ports.forward);
    const { random, digest } = ports;
    const access =
      ports.access?.() ??
      openAccessStore(accessEntries, { clock, random, digest, journal, configs });
    const sessions = createSessionParts({
      ...ports,
      journal,
      configs,
      supervisor: () => this.parts.supervisor,
      onHealth: (error) => this.#system({ system: "sessions", working: error === null }),
    });
    const sessionStart = createSessionStart({
      clock,
      log,
      store,
      ids: ports.ids,
      zoneOffset: ports.zoneOffset ?? (() => 0),
      cfg: () => configs.version(),
      policyOf: (key) => resetPolicy(configs.current().session.reset, key),
      append: (events, writes) => this.#append(events, writes),
    });
    const limited = slotLimits(() => configs.current(), ports.workers);
    const { grant } = sessionStart;
    const slots = ports.slots?.join(grant) ?? createTurnSlots({ ...limited, grant });
    const due = createDueDeadlines({
      clock,
      log,
      store,
      configs,
      slots,
      sessionStart,
      agentOf: (key) => this.#agentOf(key),
      append: (events, writes) => this.#append(events, writes),
      again: (deadline) => this.parts.timers.set(deadline),
    });
    const timers = createDeadlines(clock, due);
    const hooks = createHooks({
      clock,
      log,
      plugins: ports.plugins ?? [],
      onCall: (call) => this.#system({ system: "hook", ...call }),
    });
    events.add(hookListener({ clock, hooks, agentOf: (key) => this.#agentOf(key) }));
    const outbox = createOutbox({
      clock,
      log,
      hooks,
      agentOf: (key) => this.#agentOf(key),
      random: ports.random,
      journal,
      directory,
      events,
      doubts: () => {
        const { onInDoubt, inDoubtFreshMs } = configs.current().turn;
        return { policy: onInDoubt, freshMs: inDoubtFreshMs };
      },
      cfg: () => configs.version(),
      onPoint: ports.onPoint ?? (() => undefined),
      row: (id) => store.outboxRow(id),
      readFile: async (id) => (await ports.outgoing?.read(id)) ?? null,
      onSettled: (delivery) => {
        const context = { config: configs.current(), cfg: configs.version(), now: clock.now() };
        return forSiblings(delivery, this.#agentOf(delivery.row.key), context);
      },
    });
    const failing = createFailingAgents(clock, (key) => this.#agentOf(key));
    events.add(failing.listener);
    const typing = createTyping({ clock, log, directory, mayAct: journal.mayAct });
    const waiters = createWaiters(events);
    const media = createMedia({
      clock,
      digest,
      log,
      service: ports.media ?? null,
      config: () => configs.current(),
      agentOf: (key) => this.#agentOf(key),
    });
    const asks = createContextTools({
      clock,
      log,
      ids: ports.ids,
      digest,
      store,
      media,
      schedule: (turn, input) => {
        const agentOf = (key: string) => this.#agentOf(key);
        return useScheduleTool({ schedules, wall, agentOf }, turn, input);
      },
    });
    const outgoing = createOutgoing({
      clock,
      log,
      store,
      events,
      directory,
      config: () => configs.current(),
      agentOf: (key) => this.#agentOf(key),
      files: ports.outgoing ?? null,
      isRunning: asks.isRunning,
    });
    const permits = createApprovalService(ports, () => this.parts);
    const heartbeats = createHeartbeats({
      clock,
      log,
      store,
      configs,
      starts: ports.heartbeats ?? (() => true),
      workspaces: ports.workspaces ?? null,
      append: (events, writes) => this.#append(events, writes),
      onBeat: (key, why) => this.#system({ system: "heartbeat", key, skipped: why }),
    });
    const judges = createJudges({
      ...ports,
      ...sessions,
      configs,
      media,
      spending: createSpending({
        store,
        now: () => clock.now(),
        keep: (writes) => journal.keep(writes),
      }),
      agentOf: (key) => this.#agentOf(key),
      append: (events) => this.#append(events),
      onResult: (result) => this.#system({ system: "judge", ...result }),
    });
    const wall = ports.wall ?? (() => clock.now());
    const speaker = createSpeaker(ports, () => this.parts);
    const schedules = assembleSchedules(
      ports,
      () => this.parts,
      (name, run) => this.#system({ system: "schedule", name, ...run }),
    );
    const turns = assembleTurns(ports, {
      configs,
      sessions,
      parts: () => this.parts,
      agentOf: (key) => this.#agentOf(key),
      append: (events) => this.#append(events),
    });
    const now = () => clock.now();
    const quarantine = createQuarantine({ log, store, journal, timers, configs, now }, quarantined);
    const supervisor = this.#supervisor(boot, configs);
    const checkpointer = createCheckpointer({ clock, scheduler, log, store, journal, configs });
    this.parts = {
      store,
      boot,
      configs,
      journal,
      startGate,
      supervisor,
      slots,
      timers,
      outbox,
      typing,
      ...sessions,
      turns,
      waiters,
      checkpointer,
      quarantine,
      park: slots.park,
      media,
      contextTools: asks,
      outgoing,
      heartbeats,
      judges,
      failing,
      sent: createSentPrompts(clock, () => configs.current()),
      schedules,
      speaker,
      hooks,
      approvals: permits,
      access,
    };
  }

  #supervisor(boot: number, configs: Configs): Supervisor {
    const { clock, log, store, drivers, workers, workspaces } = this.#ports;
    const { hostModule, onInspect } = this.#ports;
    const { hostEntry } = this.#ports;
    const unmarked = new Map<number, number>();
    let effects: Effects | null = null;
    const createEffectsOnce = () =>
      createEffects({
        ...this.#ports,
        ...this.parts,
        unmarked,
        settings: (key) => configs.settings(key),
        agentOf: (key) => this.#agentOf(key),
        commands: createExecutor(
          this.#ports,
          configs,
          (key) => this.#agentOf(key),
          () => this.parts,
        ),
        ...decidedEvents(store),
        textsOf: async (refs, conv) => {
          const gone = conv === null ? undefined : await deletedSince(store, conv, refs);
          const { shown } = await readOverheard({ store, media: this.parts.media }, refs, gone);
          return shown.map((message) => ({ ...message, text: textWithFiles(message) }));
        },
        live: this.#ports.live !== false,
      });
    return createSupervisor({
      clock,
      log,
      workers,
      drivers,
      scheduler: this.#ports.scheduler ?? eventLoop,
      liveConversations: configs.current().workers.liveConversations,
      supervision: {
        loopMs: configs.current().workers.loopMs,
        memoryMb: configs.current().workers.memoryMb,
      },
      epochBase: boot * epochsPerStart,
      ...(hostModule === undefined ? {} : { hostModule }),
      ...(workspaces === undefined ? {} : { folderOf: workspaces.folder }),
      ...(hostEntry === undefined ? {} : { hostEntry }),
      // Marks are read before the store, so that none is missed between.
      load: (conv, key, beforeSeq, rebuild = false) => {
        const markedUpTo = unmarked.get(conv) ?? 0;
        return loadActivation(store, configs, { conv, key, beforeSeq, rebuild, markedUpTo });
      },
      tight: () => store.dirtySize() > limits.tailedConversationsMax,
      effects: () => {
        effects ??= createEffectsOnce();
        return effects;
      },
      onTurnReports: (reports) => {
        this.#ports.events.emit.reported?.(reports);
        const events = reportRows(this.parts.summaries.reported(reports), configs.version());
        if (events.length > 0) this.#append(events);
      },
      onDelta: ({ key, turnId, text }) => {
        if (this.#ports.live === false) return;
        this.#ports.events.emit.line?.({ t: clock.now(), key, event: "delta", turnId, text });
      },
      onDraft: (draft) => this.parts.outbox.draft(draft),
      ...(onInspect === undefined ? {} : { onInspect }),
      ask: (question) => {
        const { contextTools: asks, approvals: permits, outgoing } = this.parts;
        if (outgoing.takes(question)) return outgoing.answer(question);
        return question.tool === approvalRequest ? permits.ask(question) : asks.answer(question);
      },
      onHostLost: ({ host, turns }) => {
        const events = this.parts.summaries.lost(turns).map(({ conv, key, turnId }) => {
          const event = { type: "host.recovered", at: clock.now() } as const;
          const identity = `recovered|${turnId}|host ${host} ${this.#ports.ids.next()}`;
          return newEvent({ conv, key }, configs.version(), event, { identity });
        });
        if (events.length > 0) this.#append(events);
      },
      onQuarantine: (info) => {
        this.#quarantine(info).catch((error: unknown) => this.#unsaid(error));
      },
      onStatus: (line) => this.#system(line),
      onStep: (step) => this.#ports.events.emit.stepped?.(step),
      configFor: (version) => configs.get(version),
    });
  }

  /** Journals events of the runtime itself. Rejects only once the journal has stopped. */
  #append(...[events, writes]: Parameters<Journal["append"]>): void {
    this.parts.journal
      .append(events, writes, "ordered")
      .catch((error: unknown) => this.#unsaid(error));
  }

  #unsaid(error: unknown): void {
    this.#ports.log("debug", "event.unsaid", { error: String(error) });
  }

  async #quarantine({ conv, key, seq, error }: Quarantined): Promise<void> {
    this.#system({ system: "quarantine", key, seq, conv });
    await this.parts.quarantine.add({ conv, seq, error });
  }

  #system(line: { readonly system: string; readonly [field: string]: unknown }): void {
    if (this.#ports.live === false) return;
    this.#ports.events.emit.line?.({ t: this.#ports.clock.now(), ...line } as StreamLine);
  }

  #agentOf(key: string): string {
    let agentId = this.#agents.get(key);
    if (agentId === undefined) {
      agentId = parseSessionKey(key).agentId;
      if (this.#agents.size > 10_000) this.#agents.clear();
      this.#agents.set(key, agentId);
    }
    return agentId;
  }
}
