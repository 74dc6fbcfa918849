/**
 * Allow lists
 * ===========
 * `/allowlist` adds people to the list of direct chats or of groups, and removes them. The kind of
 * chat in which it is used selects the list, so allowing someone in a group never allows them in
 * direct chats by accident. Entries of the config file are only shown.
 */
import { oneLine } from "../../domain/sanitize.ts";
import type { Grant } from "../../machines/access/access-entries.ts";
import { accessOf, listedRoom } from "../../machines/access/access-rules.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";

const shownMax = 30;
const idUnitsMax = 256;
const shown = (text: string) => `\`${oneLine(text, idUnitsMax).replaceAll("`", "'")}\``;

export async function allowlistText(
  ports: CommandPorts,
  [verb = "list", word = ""]: readonly string[],
  about: CommandAbout,
): Promise<string> {
  const { channel, account, chat } = about.asked.route;
  const scope = chat.kind === "direct" ? "direct" : "group";
  if (verb === "list") return listText(ports, about);
  const id = word.startsWith(`${channel}:`) ? word.slice(channel.length + 1) : word;
  if (id === "" || id.startsWith("@"))
    return "Use the person's platform id, not a name. Nothing was changed.";
  const where = scope === "direct" ? "direct chats" : "groups";
  const by = oneLine(`${channel}:${about.asked.author}`, idUnitsMax);
  const { access } = ports;
  if (verb === "add") {
    // The access store has no effect where a group has its own list.
    if (scope === "group" && ownListOf(ports, about) !== undefined)
      return (
        "This group has its own list in the config file, and the agent ignores everyone else " +
        "here. Nothing was changed. Add them to that list."
      );
    const done = await access.allow({ channel, account, id, scope }, by);
    return done ? `${shown(id)} may speak in ${where}.` : "The list is full.";
  }
  const scopes = scope === "direct" ? (["direct", "paired"] as const) : (["group"] as const);
  let had = false;
  for (const scope of scopes) had = (await access.revoke({ channel, account, id, scope })) || had;
  if (!had) return `${shown(id)} was not added from here; the config file may still allow it.`;
  return `${shown(id)} is removed from the list for ${where}, starting with the next message.`;
}

/** The config's own list for this group or topic. */
function ownListOf({ configs }: CommandPorts, { asked }: CommandAbout) {
  const { channel, account, chat, thread } = asked.route;
  const rules = accessOf(configs.current(), channel, account);
  return listedRoom(rules, chat.id, thread?.id)?.allowFrom;
}

function listText(ports: CommandPorts, about: CommandAbout): string {
  const { access, configs } = ports;
  const { channel, account, chat } = about.asked.route;
  const direct = chat.kind === "direct";
  const rules = accessOf(configs.current(), channel, account);
  const own = direct ? undefined : ownListOf(ports, about);
  const listed = own ?? (direct ? rules.allowFrom : rules.groupAllowFrom);
  const isHere = ({ scope }: Grant) =>
    direct ? scope === "direct" || scope === "paired" : scope === "group";
  const known = own === undefined ? access.list().grants : [];
  const grants = known.filter(
    (entry) => entry.channel === channel && entry.account === account && isHere(entry),
  );
  const lines = [
    ...[...listed].map((id) => `${shown(id)} in the config file`),
    ...grants.map(({ id, scope, by }) => `${shown(`${channel}:${id}`)} ${scope}, by ${shown(by)}`),
  ];
  const policy = direct ? rules.dmPolicy : rules.groupPolicy;
  const more = lines.length - shownMax;
  return [
    `${direct ? "Direct chats" : "Groups"} here are \`${policy}\`; on the list: ${lines.length}`,
    ...lines.slice(0, shownMax),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n");
}
