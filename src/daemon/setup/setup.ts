/**
 * Setting up an agent and a channel
 * =================================
 * Tries what was entered before anything is written, shows what would change in the config file, and
 * writes exactly that. The watcher of the file applies it.
 */
import { existsSync } from "node:fs";
import { utimes } from "node:fs/promises";
import { listModels } from "../../adapters/agents/model/models.ts";
import { configFromText, readConfigText } from "../../adapters/files/config-file.ts";
import {
  agentOf,
  defaultAgentId,
  type EarshotConfig,
  type ParseOptions,
  secretValues,
} from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import {
  type AgentDriver,
  type ChannelDefinition,
  type Clock,
  kindOf,
  type SetupField,
} from "../../domain/ports/index.ts";
import { redactSecrets } from "../../domain/redact-secrets.ts";
import { causeText } from "../../domain/stream.ts";
import type {
  SetupPlanAnswer,
  SetupState,
  SetupWritten,
  TriedChannel,
  TryLine,
} from "../api-types/setup.ts";
import { identifyAccount } from "../checks/live/identify-account.ts";
import type { AppliedFile } from "../config/config-source.ts";
import { isApplied } from "../config-edit/changes.ts";
import { diffOf, tokenOf } from "../config-edit/diff.ts";
import { changeConfigFile, emptyConfig } from "../config-edit/file.ts";
import { storeSecrets, withStoredSecrets } from "../state/secrets-file.ts";
import { accountToTry } from "./account.ts";
import {
  type ChannelAnswers,
  keyVariableOf,
  type SetupAnswers,
  type SetupDriver,
  type SetupServer,
} from "./answers.ts";
import { tryAgent } from "./try-agent.ts";

export interface SetupPorts {
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  readonly stateDir: string;
  /** The config file, which may not exist yet. */
  readonly path: string;
  readonly config: () => EarshotConfig;
  /** What the watcher of that file last put in force. */
  readonly applied: () => AppliedFile;
  readonly channels: ReadonlyMap<string, ChannelDefinition>;
  readonly drivers: ReadonlyMap<string, AgentDriver>;
}

/** An agent to be tried. */
export interface Trial {
  readonly agent: SetupAnswers["agent"];
  readonly driver: SetupDriver;
  readonly key?: string;
}

export interface Setup {
  state(): SetupState;
  /** @throws AgentFailure */
  models(server: SetupServer, signal: AbortSignal): Promise<readonly string[] | null>;
  /** The first words of an agent that is not configured yet, as they come. */
  tryAgent(trial: Trial, signal: AbortSignal): AsyncGenerator<TryLine>;
  /** @throws EarshotError EAR_CHANNEL_* */
  tryChannel(channel: ChannelAnswers, signal: AbortSignal): Promise<TriedChannel>;
  /** @throws EarshotError EAR_CONFIG_* when the config would be invalid. */
  plan(answers: SetupAnswers): Promise<SetupPlanAnswer>;
  /** @throws EarshotError EAR_USAGE when the file is not the one that `token` was made of. */
  write(answers: SetupAnswers, token: string): Promise<SetupWritten>;
}

export function createSetup(ports: SetupPorts): Setup {
  const { clock, stateDir, path, config, channels, drivers } = ports;
  const env = () => withStoredSecrets(ports.env, stateDir);
  const configured = () => agentOf(config(), defaultAgentId(config()));
  const textNow = async () => (existsSync(path) ? await readConfigText(path) : emptyConfig);

  /** The key that was pasted, that the same server has in the config, or that is known for a vendor. */
  function keyFor({ provider, baseUrl, key }: SetupServer): string | undefined {
    if (key !== undefined) return key;
    const driver: Readonly<Record<string, unknown>> = configured().driver;
    const isSame = driver.provider === provider && driver.baseUrl === baseUrl;
    if (isSame && typeof driver.apiKey === "string") return driver.apiKey;
    return provider === "openai-compatible" ? undefined : env()[keyVariableOf(provider)];
  }

  function driverConfigOf({ driver, key }: Trial): object {
    if (driver.kind !== "model") return driver;
    const apiKey = keyFor({ ...driver, ...(key !== undefined && { key }) });
    return apiKey === undefined ? driver : { ...driver, apiKey };
  }

  /** The new text, if the config is valid with it. What makes it is loaded with the first answers. */
  async function checkedPlan(text: string, answers: SetupAnswers) {
    const { planOf } = await import("./plan.ts");
    const known = env();
    const has = (variable: string) => (known[variable] ?? "") !== "";
    const plan = planOf({ text, path, answers, channels, has });
    const parse: ParseOptions = { channels, drivers };
    configFromText(plan.text, path, { env: { ...known, ...plan.secrets }, parse });
    return plan;
  }

  return {
    state: () => stateOf(ports, configured()),
    models: ({ key: _, ...server }, signal) => {
      const apiKey = keyFor({ ...server, ...(_ !== undefined && { key: _ }) });
      return listModels({ ...server, ...(apiKey !== undefined && { apiKey }) }, signal);
    },
    async *tryAgent(trial, signal) {
      const own = driverConfigOf(trial);
      const secrets = [...secretValues(config()), ...secretsOf(own)];
      const failed = (message: string) => ({ problem: redactSecrets(message, secrets) });
      try {
        const driver = drivers.get(trial.driver.kind);
        const parsed = driver?.configSchema.safeParse(own);
        if (driver === undefined || parsed?.success !== true)
          throw new EarshotError(
            "EAR_AGENT_CONFIG",
            "Cannot try the agent: its options are invalid",
          );
        const { name, purpose } = trial.agent;
        const tried = { name, purpose, driver, config: parsed.data };
        for await (const event of tryAgent(tried, clock, signal)) {
          if (event.type === "text") yield { text: event.text };
          if (event.type !== "error") continue;
          yield failed(causeText({ kind: event.kind ?? "crashed", message: event.message }));
          return;
        }
      } catch (error) {
        if (signal.aborted) return;
        const message = error instanceof Error ? error.message : String(error);
        yield failed(causeText({ kind: kindOf(error), message }));
      }
    },
    async tryChannel({ id, account: accountId, fields }, signal) {
      const definition = channels.get(id);
      if (definition?.setup === undefined)
        throw new EarshotError("EAR_USAGE", `Cannot try ${id}: there is nothing to set up here`);
      const before = config().channels[id]?.accounts?.[accountId];
      const tried = accountToTry(definition.setup, { fields, accountId, before });
      const found = await identifyAccount(definition, accountId, tried, signal, stateDir);
      return { id: found?.id ?? "", name: found?.name ?? "", notes: [...(found?.notes ?? [])] };
    },
    async plan(answers) {
      const text = await textNow();
      const after = await checkedPlan(text, answers);
      return { path, exists: existsSync(path), ...(await diffOf(text, after.text)) };
    },
    async write(answers, token) {
      const before = ports.applied();
      let written = "";
      let changes = false;
      const copy = await changeConfigFile(path, async (text) => {
        if (tokenOf(text) !== token)
          throw new EarshotError(
            "EAR_USAGE",
            `Cannot write ${path}: it changed in the meantime. Review the changes again`,
          );
        const plan = await checkedPlan(text, answers);
        await storeSecrets(stateDir, plan.secrets);
        changes = plan.text !== text || Object.keys(plan.secrets).length > 0;
        written = plan.text;
        return written;
      });
      // A new key under the same name: the watcher of the file reads both again.
      const now = new Date(clock.now());
      if (copy === null && existsSync(path)) await utimes(path, now, now);
      const applied = !changes || (await isApplied(ports, written, before));
      return { path, copy, applied, token: tokenOf(written) };
    },
  };
}

const secretsOf = (driver: object): readonly string[] =>
  "apiKey" in driver && typeof driver.apiKey === "string" ? [driver.apiKey] : [];

function stateOf(
  { path, config, channels }: SetupPorts,
  { name, purpose, aliases, driver }: ReturnType<typeof agentOf>,
): SetupState {
  const own: Readonly<Record<string, unknown>> = driver;
  const textOf = (key: string) => (typeof own[key] === "string" ? { [key]: own[key] } : {});
  return {
    path,
    exists: existsSync(path),
    agent: { name, purpose, aliases: aliases.filter((one) => one !== name) },
    driver: {
      kind: driver.kind,
      ...textOf("provider"),
      ...textOf("model"),
      ...textOf("baseUrl"),
      ...textOf("command"),
      ...(Array.isArray(own.args) && { args: own.args.map(String) }),
      hasKey: typeof own.apiKey === "string",
    },
    channels: [...channels.values()].flatMap(({ id, meta, setup }) =>
      setup === undefined
        ? []
        : [
            {
              id,
              name: meta.name,
              steps: [...setup.steps],
              fields: setup.fields.map(fieldState),
              isConfigured: config().channels[id]?.accounts?.default !== undefined,
            },
          ],
    ),
  };
}

const fieldState = (field: SetupField): SetupState["channels"][number]["fields"][number] => ({
  name: field.name,
  label: field.label,
  isSecret: field.secret !== null,
  isOptional: field.isOptional,
  type: field.type ?? "text",
  ...(field.options !== undefined && { options: [...field.options] }),
  ...(field.when !== undefined && { when: field.when }),
  ...(field.initial !== undefined && { initial: field.initial }),
  ...(field.hint !== undefined && { hint: field.hint }),
});
