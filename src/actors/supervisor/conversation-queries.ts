/**
 * Questions to hosts
 * ==================
 * Asks the hosts for summaries and the number of their live conversations. A host that is down or
 * dies meanwhile answers for none.
 */
import {
  type ConversationCount,
  type ConversationSummary,
  nothingLive,
} from "../protocol/conversation-summary.ts";
import type { HostLink } from "../protocol/host-link.ts";

interface QueriedHost {
  readonly link: HostLink | null;
}

/**
 * Asks each conversation's host. Passivated conversations have no entry; a host that dies meanwhile
 * answers for none.
 */
export async function summaries(
  convs: readonly number[],
  hostOf: (conv: number) => QueriedHost | undefined,
): Promise<ReadonlyMap<number, ConversationSummary>> {
  const asked = new Map<HostLink, number[]>();
  for (const conv of convs) {
    const link = hostOf(conv)?.link;
    if (link === null || link === undefined) continue;
    const list = asked.get(link);
    if (list === undefined) asked.set(link, [conv]);
    else list.push(conv);
  }
  const seen = new Map<number, ConversationSummary>();
  await Promise.all(
    [...asked].map(async ([link, list]) => {
      const nothing = () => null;
      // A missing answer does no harm.
      const found = await Promise.race([link.summary(list), link.exited.then(nothing)]).catch(
        nothing,
      );
      for (const [index, conv] of list.entries()) {
        const summary = found?.[index];
        if (summary !== null && summary !== undefined) seen.set(conv, summary);
      }
    }),
  );
  return seen;
}

/** Asks every host for its live conversations; a host that is down or dies meanwhile has none. */
export async function count(hosts: Iterable<QueriedHost>): Promise<ConversationCount> {
  const nothing = () => nothingLive;
  const counted = await Promise.all(
    [...hosts].map(({ link }) =>
      link === null
        ? nothingLive
        : Promise.race([link.count(), link.exited.then(nothing)]).catch(nothing),
    ),
  );
  return {
    live: counted.reduce((sum, { live }) => sum + live, 0),
    engaged: counted.flatMap(({ engaged }) => engaged),
    guarded: counted.flatMap(({ guarded }) => guarded),
  };
}
