/**
 * Send lanes
 * ==========
 * Who may send next. Every account is a lane of its own with a bound on calls at the same time and
 * a pause after a rate limit; in it every conversation is a queue whose head alone may be sent, so
 * order holds inside a conversation and a slow one delays nobody else. Reactions of a conversation
 * queue apart from its texts.
 */

import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import { type Delivery, isText } from "./row-body.ts";

/** A row in a queue; the outbox replaces `delivery` as the row changes. */
export interface QueuedDelivery {
  delivery: Delivery;
  /** Fires when the row is too old to be said. */
  expiry: TimerHandle | null;
  /** Where it waits, once it has been added. */
  queue: Queue | null;
}

export interface SendQueues {
  add(item: QueuedDelivery): void;
  /** Takes a row out that is not being sent. */
  remove(item: QueuedDelivery): void;
  /** The head's try has ended without an end: it is the head again at `dueAt`. */
  release(item: QueuedDelivery, dueAt: Millis): void;
  /** The head is over: the one behind it may go, not before `notBefore`. */
  next(item: QueuedDelivery, notBefore: Millis): void;
  /** The head cannot start as its account is gone: it waits for `wake`. */
  park(item: QueuedDelivery): void;
  /** The row behind the head, if any. */
  following(item: QueuedDelivery): QueuedDelivery | null;
  pause(channel: string, account: string, until: Millis): void;
  pausedUntil(channel: string, account: string): Millis;
  wake(channel: string, account: string): void;
  /** Rows being sent, or that could be if there were room. */
  active(): number;
  stop(): void;
}

export interface SendQueuePorts {
  readonly clock: Clock;
  readonly ready: (channel: string, account: string) => boolean;
  /** Starts a try; ends in `release`, `next`, `park` or `remove`. */
  readonly start: (item: QueuedDelivery) => void;
}

export interface Queue {
  readonly id: string;
  readonly lane: SendQueue;
  readonly items: QueuedDelivery[];
  /** `idle`: empty or due later; `ready`: in the lane's list; `busy`: its head is being sent. */
  state: "idle" | "ready" | "busy";
  timer: TimerHandle | null;
}
interface SendQueue {
  readonly channel: string;
  readonly account: string;
  readonly queues: Map<string, Queue>;
  readonly ready: Queue[];
  busy: number;
  pausedUntil: Millis;
  timer: TimerHandle | null;
}

const sendQueueId = (channel: string, account: string) => JSON.stringify([channel, account]);
const queueId = ({ delivery }: QueuedDelivery) =>
  `${delivery.row.conv} ${isText(delivery) ? "text" : "reaction"}`;

export function createSendQueues({ clock, ready, start }: SendQueuePorts): SendQueues {
  const lanes = new Map<string, SendQueue>();
  let stopped = false;

  function sendQueueOf(channel: string, account: string): SendQueue {
    const id = sendQueueId(channel, account);
    let lane = lanes.get(id);
    if (lane === undefined) {
      lane = {
        channel,
        account,
        queues: new Map(),
        ready: [],
        busy: 0,
        pausedUntil: 0,
        timer: null,
      };
      lanes.set(id, lane);
    }
    return lane;
  }
  function queueOf(item: QueuedDelivery): Queue {
    item.queue ??= findQueue(item);
    return item.queue;
  }
  function findQueue(item: QueuedDelivery): Queue {
    const { channel, account } = item.delivery.body.route;
    const lane = sendQueueOf(channel, account);
    const id = queueId(item);
    let queue = lane.queues.get(id);
    if (queue === undefined) {
      queue = { id, lane, items: [], state: "idle", timer: null };
      lane.queues.set(id, queue);
    }
    return queue;
  }

  /** Puts an idle queue's head in line, now or when it is due. */
  function line(queue: Queue, notBefore: Millis = 0): void {
    if (queue.timer !== null) clock.clearTimer(queue.timer);
    queue.timer = null;
    const head = queue.items[0];
    queue.state = "idle";
    if (head === undefined) {
      queue.lane.queues.delete(queue.id);
      return;
    }
    const dueAt = Math.max(head.delivery.row.dueAt, notBefore);
    if (dueAt > clock.now()) {
      queue.timer = clock.setTimer(dueAt, () => {
        queue.timer = null;
        enter(queue);
      });
    } else enter(queue);
  }
  function enter(queue: Queue): void {
    queue.state = "ready";
    queue.lane.ready.push(queue);
    pump(queue.lane);
  }

  function pump(lane: SendQueue): void {
    if (stopped || lane.ready.length === 0) return;
    if (clock.now() < lane.pausedUntil) {
      lane.timer ??= clock.setTimer(lane.pausedUntil, () => {
        lane.timer = null;
        pump(lane);
      });
      return;
    }
    if (!ready(lane.channel, lane.account)) return;
    // At most one round: a queue whose account vanished goes back in line and must not spin here.
    for (let left = lane.ready.length; left > 0; left -= 1) {
      if (lane.busy >= limits.sendsPerAccountMax) return;
      const queue = lane.ready.shift();
      // A head that is over when it is tried lets the next start before it comes back here.
      if (queue === undefined) return;
      const head = queue.items[0];
      if (queue.state !== "ready" || head === undefined) continue;
      queue.state = "busy";
      lane.busy += 1;
      start(head);
    }
  }

  /** The head's try is over. */
  function free(queue: Queue): void {
    if (queue.state === "busy") queue.lane.busy -= 1;
    queue.state = "idle";
  }

  return {
    add(item) {
      const queue = queueOf(item);
      queue.items.push(item);
      if (queue.items.length === 1 && queue.state === "idle") line(queue);
    },
    remove(item) {
      const queue = queueOf(item);
      const place = queue.items.indexOf(item);
      if (place === -1) return;
      queue.items.splice(place, 1);
      if (place > 0) return;
      free(queue);
      line(queue);
      pump(queue.lane);
    },
    release(item, dueAt) {
      const queue = queueOf(item);
      free(queue);
      line(queue, dueAt);
      pump(queue.lane);
    },
    next(item, notBefore) {
      const queue = queueOf(item);
      queue.items.shift();
      free(queue);
      line(queue, notBefore);
      pump(queue.lane);
    },
    park(item) {
      const queue = queueOf(item);
      free(queue);
      queue.state = "ready";
      queue.lane.ready.push(queue);
    },
    following: (item) => queueOf(item).items[1] ?? null,
    pause(channel, account, until) {
      const lane = sendQueueOf(channel, account);
      lane.pausedUntil = Math.max(lane.pausedUntil, until);
    },
    pausedUntil: (channel, account) => lanes.get(sendQueueId(channel, account))?.pausedUntil ?? 0,
    wake(channel, account) {
      const lane = lanes.get(sendQueueId(channel, account));
      if (lane !== undefined) pump(lane);
    },
    active() {
      let count = 0;
      for (const lane of lanes.values()) {
        count += lane.busy;
        if (ready(lane.channel, lane.account)) count += lane.ready.length;
      }
      return count;
    },
    stop() {
      stopped = true;
      for (const lane of lanes.values()) {
        if (lane.timer !== null) clock.clearTimer(lane.timer);
        for (const { timer } of lane.queues.values()) if (timer !== null) clock.clearTimer(timer);
      }
    },
  };
}
