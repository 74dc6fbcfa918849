/**
 * Where the conversation chart can be between two events, as its record and the pages name it. The
 * transient state `next` is not among them: no conversation is ever found there. A test compares the
 * names with the chart's own.
 */
export const attentions = [
  "observing",
  "engaged.gathering",
  "engaged.waiting",
  "engaged.running",
  "engaged.settling",
] as const;
export type Attention = (typeof attentions)[number];

export const locks = ["granting", "withheld", "silenced", "closed"] as const;
export type Lock = (typeof locks)[number];

export const guardStates = ["clear", "tripped", "muted"] as const;
export type GuardState = (typeof guardStates)[number];

/** The chart's state value as XState has it. */
export type ConversationValue = {
  readonly attention:
    | "observing"
    | { readonly engaged: "gathering" | "waiting" | "running" | "settling" | "next" };
  readonly lock: Lock;
  readonly guard: GuardState;
};

/** Where attention is, as a dotted path. */
export function attentionOf({ attention }: Pick<ConversationValue, "attention">): Attention {
  return (attention === "observing" ? attention : `engaged.${attention.engaged}`) as Attention;
}

export function chartValue(attention: Attention, lock: Lock, guard: GuardState): ConversationValue {
  if (attention === "observing") return { attention, lock, guard };
  return { attention: { engaged: attention.slice("engaged.".length) as "waiting" }, lock, guard };
}
