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
interface Book {
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
  "Where `dmPolicy` is `pairing`, a stranger who writes directly is told a code, once, and no " +
  "more. Whoever runs earshot approves it here. The first one approved becomes the owner, unless " +
  "the config names one.";
const lesson: HelpText = {
  about,
  examples: [
    "earshot pair list",
    ["earshot pair approve 7KQ2MXPA", "let in whoever was told this code"],
    ["earshot pair revoke telegram:123", "a stranger again, from the next message on"],
  ],
  exits: "0 done, 1 there is nobody of the kind, 2 bad use or no daemon runs.",
};

export function addPairCommand(program: Command): void {
  const pair = addHelp(program.command("pair"), lesson).description("Who may write directly");
  addHelp(withStateDir(pair.command("list", { isDefault: true })), lesson)
    .description("Who waits, and who was let in")
    .option("--json", "for programs")
    .action(action(list));
  addHelp(withStateDir(pair.command("approve <code>")), {
    about,
    examples: ["earshot pair approve 7KQ2MXPA"],
    exits: "0 let in, 1 nobody waits under this code or too many wrong ones were given, 2 bad use.",
  })
    .description("Let in whoever was told a code")
    .option("--json", "for programs")
    .action(action(approve));
  addHelp(withStateDir(pair.command("revoke <person-or-code>")), {
    about:
      "Takes back everything that the access book gave somebody: pairing, lists, roles. What the " +
      "config says of them stays. A code that waits may be named, too.",
    examples: [
      "earshot pair revoke telegram:123",
      "earshot pair revoke telegram:123 --account work",
    ],
    exits: "0 done, 1 they had nothing, 2 bad use or no daemon runs.",
  })
    .description("Take back what somebody was given")
    .option("--account <id>", "only on this account")
    .option("--json", "for programs")
    .action(action(revoke));
}

async function list(options: JsonOptions): Promise<void> {
  const book = (await askDaemon<Book>(options, "/api/pairings")) as Book;
  if (options.json === true) return printJson(book);
  const { pairings, people, locks } = book;
  if (pairings.length + people.length === 0) print("nobody waits, and nobody was let in");
  if (pairings.length > 0)
    print(
      table([
        ["code", "who", "account", "until (UTC)", "calls themselves"],
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
        `: none is looked at before ${minuteOf(until)} UTC`,
    );
}

async function approve(code: string, options: JsonOptions): Promise<void> {
  const path = `/api/pairings/${encodeURIComponent(code)}/approve`;
  const done = await askDaemon<Approval>(options, path, { method: "POST" });
  if (done === null)
    return printRefusal("nobody waits under this code: it is wrong, used or too old");
  if (options.json === true) return printJson(done);
  const { channel, id, account, name } = done.person;
  printText(
    `let in: ${channel}:${id} (${oneLine(name, nameUnitsMax)}), in direct chats of ` +
      `${channel}/${account}`,
  );
  if (done.owner)
    printText(
      "This was the first approval, so they are the OWNER now: they may give every command there. " +
        `If that is not you: earshot pair revoke ${channel}:${id}`,
    );
}

async function revoke(whom: string, options: RevokeOptions): Promise<void> {
  const colon = whom.indexOf(":");
  if (colon === 0 || colon === whom.length - 1)
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot tell who is meant: name them with their channel, as telegram:123, or give a code",
    );
  const account = options.account === undefined ? {} : { account: options.account };
  const body =
    colon < 0
      ? { code: whom }
      : { channel: whom.slice(0, colon), id: whom.slice(colon + 1), ...account };
  const done = await askDaemon(options, "/api/pairings/revoke", { method: "POST", body });
  if (done !== null && options.json === true) return printJson(done);
  if (done !== null) return printText(`taken back: ${whom}`);
  printRefusal(
    "the access book has nothing of theirs; who is listed in the config is taken out there",
  );
}
