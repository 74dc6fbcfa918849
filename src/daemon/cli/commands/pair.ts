/** `earshot pair`: lists who waits for access and who has it, grants access and revokes it. */
import type { Command } from "commander";
import { EarshotError } from "../../../domain/errors.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { askDaemon } from "../lib/api-client.ts";
import {
  action,
  type JsonOptions,
  minuteOf,
  print,
  printJson,
  printRefusal,
  printText,
  table,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

interface Person {
  readonly channel: string;
  readonly account: string;
  readonly id: string;
}
interface Approval {
  readonly person: Person & { readonly name: string };
  readonly owner: boolean;
}
interface AccessList {
  readonly pairings: readonly (Person & {
    readonly name: string;
    readonly code: string;
    readonly expiresAt: number;
  })[];
  readonly people: readonly (Person & { readonly scope: string; readonly by: string })[];
  readonly locks: readonly {
    readonly channel?: string;
    readonly account?: string;
    until: number;
  }[];
}
interface RevokeOptions extends JsonOptions {
  readonly account?: string;
}

const nameUnitsMax = 64;
const about =
  'With `dmPolicy: "pairing"`, a stranger who writes to the bot gets a code, once, and you ' +
  "approve it here. The first person you approve becomes the owner, unless the config names " +
  "one.";
const help: HelpText = {
  about,
  examples: [
    "earshot pair list",
    ["earshot pair approve 7KQ2MXPA", "give the person with this code access"],
    ["earshot pair revoke telegram:123", "make them a stranger again"],
  ],
  exits: "0 done; 1 not found; 2 usage error or no running daemon.",
};

export function addPairCommand(program: Command): void {
  const pair = addHelp(program.command("pair"), help).description("Manage who may write directly");
  addHelp(withStateDir(pair.command("list", { isDefault: true })), help)
    .description("List requests and people with access")
    .option("--json", "print JSON")
    .action(action(list));
  addHelp(withStateDir(pair.command("approve <code>")), {
    about,
    examples: ["earshot pair approve 7KQ2MXPA"],
    exits: "0 approved; 1 no request has this code, or too many wrong codes; 2 usage error.",
  })
    .description("Approve a request by its code")
    .option("--json", "print JSON")
    .action(action(approve));
  addHelp(withStateDir(pair.command("revoke <person-or-code>")), {
    about:
      "Revokes all stored access of a person: pairing, lists and roles. The config file is not " +
      "changed. A pending code can be revoked too.",
    examples: [
      "earshot pair revoke telegram:123",
      "earshot pair revoke telegram:123 --account work",
    ],
    exits: "0 done; 1 nothing to revoke; 2 usage error or no running daemon.",
  })
    .description("Revoke a person's access")
    .option("--account <id>", "only on this account")
    .option("--json", "print JSON")
    .action(action(revoke));
}

async function list(options: JsonOptions): Promise<void> {
  const access = (await askDaemon<AccessList>(options, "/api/pairings")) as AccessList;
  if (options.json === true) return printJson(access);
  const { pairings, people, locks } = access;
  if (pairings.length + people.length === 0) print("no requests, and nobody has access");
  if (pairings.length > 0)
    print(
      table([
        ["code", "who", "account", "until (UTC)", "name"],
        ...pairings.map(({ code, channel, id, account, expiresAt, name }) => [
          ...[code, `${channel}:${id}`, account, minuteOf(expiresAt), oneLine(name, nameUnitsMax)],
        ]),
      ]),
    );
  if (people.length > 0)
    print(
      table([
        ["who", "account", "as", "by"],
        ...people.map(({ channel, id, account, scope, by }) => [
          ...[`${channel}:${id}`, account, scope, by],
        ]),
      ]),
    );
  for (const { channel, account, until } of locks)
    printText(
      `too many wrong codes ${channel === undefined ? "on the console" : `from ${channel}/${account}`}` +
        `: codes are refused until ${minuteOf(until)} UTC`,
    );
}

async function approve(code: string, options: JsonOptions): Promise<void> {
  const path = `/api/pairings/${encodeURIComponent(code)}/approve`;
  const done = await askDaemon<Approval>(options, path, { method: "POST" });
  if (done === null) return printRefusal("no request has this code: it is wrong, used or expired");
  if (options.json === true) return printJson(done);
  const { channel, id, account, name } = done.person;
  printText(
    `access given: ${channel}:${id} (${oneLine(name, nameUnitsMax)}), in direct chats of ` +
      `${channel}/${account}`,
  );
  if (done.owner)
    printText(
      "This is the first person you approved, so they are now the OWNER and may use every " +
        `command there. If that is not you: earshot pair revoke ${channel}:${id}`,
    );
}

async function revoke(target: string, options: RevokeOptions): Promise<void> {
  const colon = target.indexOf(":");
  if (colon === 0 || colon === target.length - 1)
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot revoke: expected a person with the channel, such as telegram:123, or a code",
    );
  const account = options.account === undefined ? {} : { account: options.account };
  const body =
    colon < 0
      ? { code: target }
      : { channel: target.slice(0, colon), id: target.slice(colon + 1), ...account };
  const done = await askDaemon(options, "/api/pairings/revoke", { method: "POST", body });
  if (done !== null && options.json === true) return printJson(done);
  if (done !== null) return printText(`revoked: ${target}`);
  printRefusal("no stored access to revoke; people in the config file are removed there");
}
