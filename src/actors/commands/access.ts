/**
 * Allow lists in a room
 * =====================
 * What `/allowlist` does: puts people on the list of direct chats, or of groups, and takes them off.
 * Which of the two is the kind of place where it is said, so nobody who is let into a group is let into
 * direct chats by accident. What the config file says is only shown here.
 */
import { oneLine } from "../../domain/sanitize.ts";
import type { Grant } from "../../machines/access/access-entries.ts";
import { accessOf } from "../../machines/access/access-rules.ts";
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
    return "People are known by the platform's id of them, not by a name: nothing was changed.";
  const where = scope === "direct" ? "direct chats" : "groups";
  const by = oneLine(`${channel}:${about.asked.author}`, idUnitsMax);
  const { access } = ports;
  if (verb === "add") {
    // What is written into the access book does not count where a group has a list of its own.
    if (scope === "group" && ownListOf(ports, about) !== undefined)
      return (
        "This group has a list of its own in the config file, and only who is on that is heard " +
        "here: nothing was changed. Add them there."
      );
    const done = await access.allow({ channel, account, id, scope }, by);
    return done ? `${shown(id)} may speak in ${where}.` : "The list is full.";
  }
  const scopes = scope === "direct" ? (["direct", "paired"] as const) : (["group"] as const);
  let had = false;
  for (const scope of scopes) had = (await access.revoke({ channel, account, id, scope })) || had;
  if (!had) return `${shown(id)} was not let in from here; the config file may say more.`;
  return `${shown(id)} is off the list of ${where}, from the next message on.`;
}

/** The list that the config has for this group alone. */
function ownListOf({ configs }: CommandPorts, { asked }: CommandAbout) {
  const { channel, account, chat } = asked.route;
  return accessOf(configs.current(), channel, account).groups.get(chat.id)?.allowFrom;
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
