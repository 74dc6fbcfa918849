/**
 * Which row is sent next. Every account has a send queue with a bound on concurrent calls and a
 * pause after a rate limit. In it every conversation has a queue of its own, of which only the head
 * may be sent: order holds inside a conversation, and a slow conversation delays no other.
 * Reactions of a conversation queue apart from its texts.
 */

import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import { type Delivery, isText } from "./row-body.ts";

/** A row in a queue; the outbox replaces `delivery` as the row changes. */
export interface QueuedDelivery {
  delivery: Delivery;
  /** Fires when the row is too old to be sent. */
  expiry: TimerHandle | null;
  /** The queue that holds it, once it has been added. */
  queue: Queue | null;
}

export interface SendQueues {
  /** The row goes to the end; if it is the first, it is not sent before `notBefore`. */
  add(item: QueuedDelivery, notBefore: Millis): void;
  /** Removes a row that is not being sent. */
  remove(item: QueuedDelivery): void;
  /** The attempt has ended and the row stays open: it is the head again at `dueAt`. */
  release(item: QueuedDelivery, dueAt: Millis): void;
  /** The head is done: the row behind it may be sent, not before `notBefore`. */
  next(item: QueuedDelivery, notBefore: Millis): void;
  /** The head cannot start because its account is gone: it waits for `wake`. */
  park(item: QueuedDelivery): void;
  /** The row behind the head, if any. */
  following(item: QueuedDelivery): QueuedDelivery | null;
  pause(channel: string, account: string, until: Millis): void;
  pausedUntil(channel: string, account: string): Millis;
  wake(channel: string, account: string): void;
  /** Starts to send; rows may be added before. */
  open(): void;
  /** Rows that are being sent, or could be if the limit allowed it. */
  active(): number;
  /** Starts no attempt any more; those under way go on. */
  hold(): void;
  isHeld(): boolean;
  /** Holds, and leaves no timer. */
  stop(): void;
}

export interface SendQueuePorts {
  readonly clock: Clock;
  readonly ready: (channel: string, account: string) => boolean;
  /** Starts an attempt; it ends in `release`, `next`, `park` or `remove`. */
  readonly start: (item: QueuedDelivery) => void;
}

export interface Queue {
  readonly id: string;
  readonly sendQueue: SendQueue;
  readonly items: QueuedDelivery[];
  /** `idle`: empty or due later; `ready`: in the account's list; `busy`: its head is being sent. */
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
  const accounts = new Map<string, SendQueue>();
  let isOpen = false;
  let held = false;

  function sendQueueOf(channel: string, account: string): SendQueue {
    const id = sendQueueId(channel, account);
    let sendQueue = accounts.get(id);
    if (sendQueue === undefined) {
      sendQueue = {
        channel,
        account,
        queues: new Map(),
        ready: [],
        busy: 0,
        pausedUntil: 0,
        timer: null,
      };
      accounts.set(id, sendQueue);
    }
    return sendQueue;
  }
  function queueOf(item: QueuedDelivery): Queue {
    item.queue ??= findQueue(item);
    return item.queue;
  }
  function findQueue(item: QueuedDelivery): Queue {
    const { channel, account } = item.delivery.body.route;
    const sendQueue = sendQueueOf(channel, account);
    const id = queueId(item);
    let queue = sendQueue.queues.get(id);
    if (queue === undefined) {
      queue = { id, sendQueue, items: [], state: "idle", timer: null };
      sendQueue.queues.set(id, queue);
    }
    return queue;
  }

  /** Schedules the head of an idle queue, now or when it is due. */
  function line(queue: Queue, notBefore: Millis = 0): void {
    if (queue.timer !== null) clock.clearTimer(queue.timer);
    queue.timer = null;
    const head = queue.items[0];
    queue.state = "idle";
    if (head === undefined) {
      queue.sendQueue.queues.delete(queue.id);
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
    queue.sendQueue.ready.push(queue);
    pump(queue.sendQueue);
  }

  function pump(sendQueue: SendQueue): void {
    if (!isOpen || held || sendQueue.ready.length === 0) return;
    if (clock.now() < sendQueue.pausedUntil) {
      sendQueue.timer ??= clock.setTimer(sendQueue.pausedUntil, () => {
        sendQueue.timer = null;
        pump(sendQueue);
      });
      return;
    }
    if (!ready(sendQueue.channel, sendQueue.account)) return;
    // One round at most: a queue whose account vanished is added again and must not loop here.
    for (let remaining = sendQueue.ready.length; remaining > 0; remaining -= 1) {
      if (sendQueue.busy >= limits.sendsPerAccountMax) return;
      const queue = sendQueue.ready.shift();
      // A head that ends during its attempt starts the next one before control returns here.
      if (queue === undefined) return;
      const head = queue.items[0];
      if (queue.state !== "ready" || head === undefined) continue;
      queue.state = "busy";
      sendQueue.busy += 1;
      start(head);
    }
  }

  /** The head's attempt is over. */
  function free(queue: Queue): void {
    if (queue.state === "busy") queue.sendQueue.busy -= 1;
    queue.state = "idle";
  }

  return {
    add(item, notBefore) {
      const queue = queueOf(item);
      queue.items.push(item);
      if (queue.items.length === 1 && queue.state === "idle") line(queue, notBefore);
    },
    remove(item) {
      const queue = queueOf(item);
      const place = queue.items.indexOf(item);
      if (place === -1) return;
      queue.items.splice(place, 1);
      if (place > 0) return;
      free(queue);
      line(queue);
      pump(queue.sendQueue);
    },
    release(item, dueAt) {
      const queue = queueOf(item);
      free(queue);
      line(queue, dueAt);
      pump(queue.sendQueue);
    },
    next(item, notBefore) {
      const queue = queueOf(item);
      queue.items.shift();
      free(queue);
      line(queue, notBefore);
      pump(queue.sendQueue);
    },
    park(item) {
      const queue = queueOf(item);
      free(queue);
      queue.state = "ready";
      queue.sendQueue.ready.push(queue);
    },
    following: (item) => queueOf(item).items[1] ?? null,
    pause(channel, account, until) {
      const sendQueue = sendQueueOf(channel, account);
      sendQueue.pausedUntil = Math.max(sendQueue.pausedUntil, until);
    },
    pausedUntil: (channel, account) =>
      accounts.get(sendQueueId(channel, account))?.pausedUntil ?? 0,
    wake(channel, account) {
      const sendQueue = accounts.get(sendQueueId(channel, account));
      if (sendQueue !== undefined) pump(sendQueue);
    },
    open() {
      isOpen = true;
      for (const sendQueue of accounts.values()) pump(sendQueue);
    },
    active() {
      let count = 0;
      for (const sendQueue of accounts.values()) {
        count += sendQueue.busy;
        if (!held && ready(sendQueue.channel, sendQueue.account)) count += sendQueue.ready.length;
      }
      return count;
    },
    hold() {
      held = true;
    },
    isHeld: () => held,
    stop() {
      held = true;
      for (const sendQueue of accounts.values()) {
        if (sendQueue.timer !== null) clock.clearTimer(sendQueue.timer);
        for (const { timer } of sendQueue.queues.values())
          if (timer !== null) clock.clearTimer(timer);
      }
    },
  };
}
