/** `earshot claim`: codes that give a role to the first person who sends them. */
import { type Command, Option } from "commander";
import { EarshotError } from "../../../domain/errors.ts";
import { askDaemon } from "../lib/api-client.ts";
import {
  action,
  type JsonOptions,
  minuteOf,
  print,
  printJson,
  printRefusal,
  printText,
  type StateOptions,
  table,
  withStateDir,
} from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

interface Claim {
  readonly label: string;
  readonly role: string;
  readonly expiresAt: number;
}
interface NewOptions extends JsonOptions {
  readonly role: string;
  readonly ttl?: string;
}

const about =
  "A claim code is a secret and shown once. The first person who sends it to the bot, directly " +
  "or in a group, gets its role on that channel and account. The agent does not see that " +
  "message.";
const help: HelpText = {
  about,
  examples: [
    ["earshot claim new --role owner", "for yourself"],
    ["earshot claim new --role member --ttl 60", "for a friend, valid for an hour"],
    "earshot claim list",
    "earshot claim revoke 7kq2mx",
  ],
  exits: "0 done; 1 unknown code; 2 usage error or no running daemon.",
};

export function addClaimCommand(program: Command): void {
  const claim = addHelp(program.command("claim"), help).description(
    "Manage codes that give a role",
  );
  addHelp(withStateDir(claim.command("new")), help)
    .description("Create a code")
    .addOption(
      new Option("--role <role>", "owner: everything; member: direct chats and commands")
        .choices(["owner", "member"])
        .makeOptionMandatory(),
    )
    .option("--ttl <minutes>", "validity in minutes (default: one day)")
    .option("--json", "print JSON")
    .action(action(make));
  addHelp(withStateDir(claim.command("list", { isDefault: true })), help)
    .description("List unused codes by label")
    .option("--json", "print JSON")
    .action(action(list));
  addHelp(withStateDir(claim.command("revoke <label>")), help)
    .description("Revoke a code")
    .action(action(revoke));
}

async function make({ role, ttl, ...options }: NewOptions): Promise<void> {
  const minutes = ttl === undefined ? undefined : Number(ttl);
  if (minutes !== undefined && !(Number.isInteger(minutes) && minutes > 0))
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot read --ttl: expected whole minutes, such as --ttl 60",
    );
  const body = { role, ...(minutes === undefined ? {} : { ttlMs: minutes * 60_000 }) };
  const made = await askDaemon<Claim & { code: string }>(options, "/api/claims", {
    method: "POST",
    body,
  });
  if (made === null)
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot create a code: the running daemon is too old. Restart it",
    );
  if (options.json === true) return printJson(made);
  print(made.code);
  printText(
    `The first person who sends this to the agent becomes ${role === "owner" ? "an owner" : "a member"} there. ` +
      `It is valid until ${minuteOf(made.expiresAt)} UTC and is not shown again. ` +
      `To revoke it: earshot claim revoke ${made.label}`,
  );
}

async function list(options: JsonOptions): Promise<void> {
  const claims = (await askDaemon<{ claims: Claim[] }>(options, "/api/claims"))?.claims ?? [];
  if (options.json === true) return printJson(claims);
  if (claims.length === 0) return print("no unused codes");
  const rows = claims.map(({ label, role, expiresAt }) => [label, role, minuteOf(expiresAt)]);
  print(table([["label", "role", "until (UTC)"], ...rows]));
}

async function revoke(label: string, options: StateOptions): Promise<void> {
  const path = `/api/claims/${encodeURIComponent(label)}/revoke`;
  if ((await askDaemon(options, path, { method: "POST" })) !== null)
    return print(`revoked: ${label}`);
  printRefusal("no unused code has this label");
}
