/**
 * The questions of `earshot init`, asked on a terminal. A model and a channel's account are tried
 * immediately; each can be skipped.
 */
import * as ask from "@clack/prompts";
import type { SetupState } from "../../api-types/setup.ts";
import { askChannel, chooseChannel } from "./ask-channel.ts";
import { askModel, type ModelAnswers, tryModel } from "./ask-model.ts";
import type { Connectable } from "./channel-answers.ts";
import type { AnsweredChannel, Answers } from "./init-config.ts";
import { answered, type Check, isAnything, notEmpty, text } from "./prompts.ts";

/** What the questions start from. */
export interface Start {
  readonly plain: Answers;
  readonly channels: readonly Connectable[];
  readonly env: NodeJS.ProcessEnv;
  /** The agent of a file that is there; null: there is none. */
  readonly existing: ExistingAgent | null;
}

export interface ExistingAgent extends Pick<SetupState["agent"], "name" | "purpose"> {
  readonly driver: string;
  /** An account of a channel as it is configured; undefined: there is none. */
  readonly account: (channel: string) => unknown;
}

export interface Interview {
  readonly name: string;
  readonly purpose: string;
  /** `keep`: as it is in the file. */
  readonly driver: Answers["driver"] | "keep";
  /** Null: no model was chosen. */
  readonly model: ModelAnswers | null;
  readonly channel: AnsweredChannel | null;
}

const isId: Check = (text) =>
  /^\S{0,200}$/u.test((text ?? "").trim())
    ? undefined
    : "Expected an id without spaces, or nothing";

/** Asks for a name; Enter accepts the offered one, which is shown as a placeholder. */
async function nameOr(offered: string): Promise<string> {
  const typed = await ask.text({
    message: "Name of your agent?",
    placeholder: offered,
    defaultValue: offered,
    validate: (input) => ((input ?? "") === "" ? undefined : notEmpty(input)),
  });
  return answered(typed).trim();
}

const vendors = [
  { value: "openai-compatible", label: "A server with an OpenAI-compatible API" },
  { value: "anthropic", label: "Anthropic" },
  { value: "openai", label: "OpenAI" },
] as const;

/** Asks all questions. */
export async function interview({ plain, channels, env, existing }: Start): Promise<Interview> {
  ask.intro(existing === null ? "earshot: create a config" : "earshot: change your config");
  const name = await nameOr(existing?.name ?? plain.name);
  const others = [
    { value: "guide", label: "The built-in guide (no key, no network)" },
    { value: "auto", label: "A model found on this machine (an API key, or Ollama)" },
  ] as const;
  const kept = { value: "keep", label: `Keep the current one (${existing?.driver})` } as const;
  const driver = answered(
    await ask.select<Interview["driver"]>({
      message: "Which model?",
      options: existing === null ? [...others, ...vendors] : [kept, ...vendors],
    }),
  );
  const hasModel = driver !== "guide" && driver !== "auto" && driver !== "keep";
  const purpose = hasModel
    ? await text("What is it for? (optional)", existing?.purpose ?? "", isAnything)
    : (existing?.purpose ?? "");
  const model = hasModel ? await askModel(driver, plain) : null;
  if (model !== null) await tryModel(model, { name, purpose });
  const channel = await askWhere(channels, env, existing);
  ask.outro("Done");
  return { name, purpose, driver, model, channel };
}

async function askWhere(
  channels: readonly Connectable[],
  env: NodeJS.ProcessEnv,
  existing: ExistingAgent | null,
): Promise<AnsweredChannel | null> {
  const channel = await chooseChannel(channels, env);
  if (channel === null) return null;
  const before = existing?.account(channel.id);
  const fields = await askChannel({ channel, accountId: "default", before }, env);
  // Into a file that is there, the page and `earshot needs` write people and groups.
  if (existing !== null) return { channel, fields, owner: "", group: "" };
  const { name } = channel.meta;
  const owner = await text(`Your own ${name} id, to make you the owner? (optional)`, "", isId);
  const group = await text("Id of a group to listen to? (optional)", "", isId);
  return { channel, fields, owner, group };
}
