/**
 * Questions to hosts
 * ==================
 * Asks the hosts how their live conversations are and how many there are. A host that is down or
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
 * Asks each conversation's host. Those that are not live anywhere have no entry; a host that dies
 * meanwhile answers for none.
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
      // Nobody is worse off without an answer.
      const found = await Promise.race([link.summary(list), link.exited.then(nothing)]).catch(
        nothing,
      );
      for (const [index, conv] of list.entries()) {
        const glance = found?.[index];
        if (glance !== null && glance !== undefined) seen.set(conv, glance);
      }
    }),
  );
  return seen;
}

/** Asks every host what is live there; a host that is down or dies meanwhile has nothing live. */
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
