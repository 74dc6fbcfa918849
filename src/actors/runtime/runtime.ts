/**
 * Assembly: journal, intake, hosts, effects, turn slots, timers and outbox, connected so that a
 * message passes through them once. Nothing is decided here. The same assembly runs live and in a
 * simulation; only the ports differ.
 */
import type { EarshotError } from "../../domain/errors.ts";
import { routeOf } from "../../domain/message.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import { within } from "../../domain/ports/within.ts";
import { createIngress } from "../ingress/ingress.ts";
import { openConfigs } from "../journal/config-versions.ts";
import { findUnapplied, occupySlots, recoverRuns } from "../journal/recovery.ts";
import { newEvent } from "../protocol/event-codec.ts";
import type { Runtime, RuntimePorts } from "../protocol/runtime.ts";
import { whyMessage } from "../recording/explain-message.ts";
import { eventLoop, nextTurn } from "../util/scheduling.ts";
import { isFailing, unlessStoreFails } from "../util/until-failure.ts";
import { createParts } from "./assembly.ts";
import { createOperator } from "./operator.ts";
import { createOrders } from "./orders.ts";
import type { Parts } from "./parts.ts";
import { createRoomActions } from "./room-actions.ts";
import { createSessionOperator } from "./session-operator.ts";
import { createStatus } from "./status.ts";

const drainPollMs = 20;
const passivateMsMax = 2_000;
const busyPassivateMsMax = 500;
/** How long calls of platforms may take that are under way when the time to drain is over. */
const lastSendsMsMax = 1_000;

/**
 * Creates a runtime from its ports; `start` opens it.
 * @throws EarshotError from `start`: EAR_HOST_START, EAR_STORE_FAILED, EAR_STORE_VERSION.
 */
export function createRuntime(ports: RuntimePorts): Runtime {
  const { scheduler = eventLoop } = ports;
  let parts: Parts | null = null;
  let ingress: ReturnType<typeof createIngress> | null = null;
  let recovering: Promise<void> = Promise.resolve();
  /** What the last start left is not known yet. */
  let isReading = true;
  /** What the start gate holds then waits for the next start. */
  let recoveryFailed = false;
  let stopping: Promise<void> | null = null;

  const opened = (): Parts => {
    if (parts === null) throw new Error("the runtime has not been started");
    return parts;
  };
  const operator = createOperator(ports, opened);
  const sessions = createSessionOperator(ports, opened);
  const say: Runtime["say"] = (speech) => opened().speaker.say(speech);
  const status = createStatus(
    () => parts,
    () => ingress,
    () => isReading,
  );

  async function start(): Promise<void> {
    parts = await createParts(ports);
    const { supervisor, timers, outbox, store, checkpointer, heartbeats } = parts;
    await heartbeats.load();
    await parts.schedules.load();
    await parts.judges.load();
    ingress = createIngress({
      ...ports,
      ...parts,
      live: ports.live !== false,
      onPoint: ports.onPoint ?? (() => undefined),
    });
    const lastSeq = parts.journal.lastSeq();
    const [deadlines, runs, open, counts] = await Promise.all([
      store.deadlines(),
      store.runs(),
      store.outboxOpen(),
      store.outboxCounts(),
    ]);
    occupySlots(parts.slots, runs);
    await parts.sessions.recover(runs);
    await supervisor.start();
    // Before recovery: what it sends comes behind what was not sent yet.
    const sending = outbox.recover(open, counts, repairFor(parts, open));
    recovering = recover(parts, lastSeq, runs);
    recovering.catch((error: EarshotError) => {
      recoveryFailed = true;
      status.problem(`recovery failed: ${error.message}`);
      ports.log("fatal", "recovery.failed", { code: error.code, error: error.message });
    });
    for (const deadline of deadlines) timers.set(deadline);
    await unlessStoreFails([parts.projection], sending);
    repairTranscripts(parts);
    heartbeats.start();
    parts.schedules.start();
    if (ports.housekeeping !== false) {
      checkpointer.start();
      parts.media.start();
    }
    // The store reads what no record covers when it is first asked: now, before a message needs it, and
    // not while the hosts started. Each later call gives the same error.
    store.lowWater().catch(() => undefined);
  }

  /**
   * Repairs the files of what is sent next: a crash may have come between the store and the file.
   */
  async function repairFor(
    { store, projection }: Parts,
    open: readonly OutboxRow[],
  ): Promise<void> {
    const turns = new Set(open.map(({ turnId }) => turnId).filter((turnId) => turnId !== ""));
    for (const turnId of turns) {
      const session = await store.sessionOfTurn(turnId);
      if (session !== null) await projection.repairNow([session]);
    }
  }

  /** Files that a crash left behind the store; the next writer of each repairs it first. */
  function repairTranscripts({ projection, sessionIndex }: Parts): void {
    projection
      .repair()
      .then(() => sessionIndex.repair())
      .catch((error: unknown) => ports.log("warn", "sessions.repair", { error: String(error) }));
  }

  /** Dispatches what was journalled and not applied, then whatever arrived meanwhile. */
  async function recover(
    { store, configs, journal, slots, boot, startGate, quarantine }: Parts,
    lastSeq: number,
    runs: Awaited<ReturnType<Parts["store"]["runs"]>>,
  ): Promise<void> {
    const unapplied = await findUnapplied(
      { store, journal, configs, quarantine, log: ports.log, scheduler },
      lastSeq,
    );
    if (unapplied.length > 0) ports.log("info", "recovery.events", { count: unapplied.length });
    startGate.open(unapplied);
    await recoverRuns({ clock: ports.clock, journal, configs, slots, boot }, runs, unapplied);
    isReading = false;
  }

  async function settled(): Promise<void> {
    await recovering.catch(() => undefined);
    const { supervisor, journal, projection } = opened();
    const disks = [journal, projection];
    for (let calm = 0; calm < 2; ) {
      await unlessStoreFails(disks, supervisor.settled());
      await nextTurn(scheduler);
      calm = isQuiet() || isFailing(disks) ? calm + 1 : 0;
    }
  }

  async function isSettled(): Promise<boolean> {
    const { supervisor } = opened();
    for (let calm = 0; calm < 2; calm += 1) {
      if ((isReading && !recoveryFailed) || !(await supervisor.isSettled())) return false;
      await nextTurn(scheduler);
      if (!isQuiet()) return false;
    }
    return true;
  }

  const isQuiet = (): boolean => opened().journal.isQuiet() && underway() === 0;

  /** Events that are neither journalled nor with a host, and do not wait for a platform. */
  function underway(): number {
    const { turns, heartbeats, schedules } = opened();
    const arriving = ingress === null ? 0 : ingress.pending() - ingress.reading();
    const held = recoveryFailed ? 0 : opened().startGate.waiting();
    return held + turns.preparing() + heartbeats.looking() + schedules.busy() + arriving;
  }

  /** Whether events are still to be applied, as far as that goes on. */
  function isApplying(): boolean {
    const { problem, unapplied } = status.read();
    return problem === null && (unapplied.reading || unapplied.events > 0);
  }

  /** Waits until nothing runs or is sent any more, at most `drainMs`; false: something does. */
  function drain(drainMs: number): Promise<boolean> {
    const { slots, outbox, journal } = opened();
    return restWithin(
      drainMs,
      () => slots.running() + outbox.active() > 0 || !journal.isQuiet() || isApplying(),
    );
  }

  /** Begins to send nothing more: a call that is cut off is in doubt, so those under way may end. */
  function endSends(): Promise<boolean> {
    const { outbox } = opened();
    outbox.hold();
    return restWithin(lastSendsMsMax, () => outbox.active() > 0);
  }

  async function restWithin(msMax: number, busy: () => boolean): Promise<boolean> {
    const { clock } = ports;
    const until = clock.monotonic() + msMax;
    while (busy() && clock.monotonic() < until) {
      await new Promise<void>((resolve) => {
        clock.setTimer(clock.now() + drainPollMs, resolve);
      });
    }
    return !busy();
  }

  /** Writes records of idle conversations, so that the next start has little to read. */
  async function passivate(untilMs: number): Promise<void> {
    const { supervisor, checkpointer, journal, projection } = opened();
    const work = unlessStoreFails([journal, projection], supervisor.passivateAll());
    await within(ports.clock, untilMs, work);
    // What it keeps stays queued in a journal that fails, until the stop itself lets go of it.
    await unlessStoreFails([journal], checkpointer.mark());
  }

  async function stop(drainMs: number): Promise<void> {
    ingress?.stop();
    if (parts === null) return;
    parts.park();
    if (drainMs > 0) {
      // While turns run the hosts are rarely at rest.
      const passivateMs = (await drain(drainMs)) ? passivateMsMax : busyPassivateMsMax;
      await Promise.all([endSends(), passivate(passivateMs)]);
    }
    parts.checkpointer.stop();
    parts.media.stop();
    parts.timers.stop();
    parts.heartbeats.stop();
    parts.schedules.stop();
    parts.typing.stop();
    parts.outbox.stop();
    parts.projection.stop();
    await parts.supervisor.stop();
    parts.slots.leave();
    await parts.sessionIndex.stop();
    await parts.journal.stop();
    parts.waiters.stop();
  }

  return {
    start,
    async ingest(channel, account, events, options) {
      opened();
      return (ingress as NonNullable<typeof ingress>).ingest(channel, account, events, options);
    },
    async deliver(events) {
      const { journal, configs, heartbeats } = opened();
      const made = events.map(({ name, event, identity }) =>
        newEvent(name, configs.version(), event, identity),
      );
      const routes = events.flatMap(({ name: { key }, event }) => {
        if (event.type !== "message.received") return [];
        return heartbeats.noteRoute(key, routeOf(event.message)) ?? [];
      });
      if (made.length > 0) await journal.append(made, routes, "ordered");
    },
    carryOut: createOrders(ports, opened),
    ...operator,
    access: () => opened().access,
    schedules: () => opened().schedules,
    ...sessions,
    say,
    act: createRoomActions(() => opened().store, { ...operator, ...sessions, say }),
    connectionChanged(channel, account) {
      parts?.outbox.wake(channel, account);
      parts?.typing.wake(channel, account);
    },
    prompts: (messageId) => parts?.sent.of(messageId) ?? [],
    why: async (messageId, seq) => {
      const { store, configs } = opened();
      const { isLocal } = ports.directory;
      const own = await whyMessage({ store, configs, isLocal }, messageId, seq);
      const { reads } = ports;
      if (reads === undefined) return own;
      const all = { store: reads, isLocal, ...(await openConfigs(reads, configs.current())) };
      return [...own, ...(await whyMessage(all, messageId, seq))];
    },
    status: status.read,
    settled,
    isSettled,
    stop({ drainMs = 0 } = {}) {
      stopping ??= stop(drainMs);
      return stopping;
    },
  };
}
