/** Which binding a message finds, in the words of the docs: the model that the compiled bindings are tested against. */
import type { Inbound } from "../../../src/domain/message.ts";
import type { Binding } from "./routes.ts";

/** The documented rules, one binding after another. */
export function plainBinding(
  bindings: readonly Binding[],
  given: Inbound,
): { readonly tier: number; readonly index: number } | null {
  const kind = (name: string) => (name === "direct" ? "direct" : "group");
  const holds = ({ match }: Binding, ids: readonly string[] | null) =>
    match.channel === given.channel &&
    (match.accountId === undefined ||
      match.accountId === "*" ||
      match.accountId === given.account) &&
    (match.guildId === undefined || match.guildId === given.scope?.guildId) &&
    (match.teamId === undefined || match.teamId === given.scope?.teamId) &&
    (match.roles === undefined || match.roles.some((role) => given.scope?.roles?.includes(role))) &&
    (match.peer === undefined
      ? ids === null
      : kind(match.peer.kind) === kind(given.chat.kind) && (ids ?? ["*"]).includes(match.peer.id));
  const isAccount = ({ accountId }: Binding["match"]) =>
    accountId !== undefined && accountId !== "*";
  const { thread, chat } = given;
  const own =
    thread === null
      ? chat.kind === "direct"
        ? [chat.id, given.author.id]
        : [chat.id]
      : [
          `${chat.id}:${thread.kind}:${thread.id}`,
          ...(thread.kind === "thread" ? [thread.id] : []),
        ];
  const first = (test: (binding: Binding) => boolean) => {
    const index = bindings.findIndex(test);
    return index === -1 ? null : index;
  };
  const bare = (binding: Binding) => binding.match.peer === undefined && holds(binding, null);
  const tiers: readonly ((binding: Binding) => boolean)[] = [
    (one) => one.match.peer !== undefined && one.match.peer.id !== "*" && holds(one, own),
    (one) => one.match.peer !== undefined && one.match.peer.id !== "*" && holds(one, [chat.id]),
    (one) => one.match.peer?.id === "*" && holds(one, ["*"]),
    (one) => bare(one) && one.match.roles !== undefined,
    (one) => bare(one) && one.match.guildId !== undefined && one.match.roles === undefined,
    (one) => bare(one) && one.match.guildId === undefined && one.match.teamId !== undefined,
    (one) =>
      bare(one) &&
      one.match.guildId === undefined &&
      one.match.teamId === undefined &&
      isAccount(one.match),
    (one) =>
      bare(one) &&
      one.match.guildId === undefined &&
      one.match.teamId === undefined &&
      !isAccount(one.match),
  ];
  for (const [position, tier] of tiers.entries()) {
    const index = first(tier);
    if (index !== null) return { tier: position + 1, index };
  }
  return null;
}
