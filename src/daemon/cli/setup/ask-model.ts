/**
 * The questions about a model: its server, its key, its name from the server's own list; then its
 * first words, before anything is written.
 */
import * as ask from "@clack/prompts";
import { drivers } from "../../../adapters/agents/index.ts";
import { listModels } from "../../../adapters/agents/model/models.ts";
import { createSystemClock } from "../../../adapters/system/clock.ts";
import { kindOf } from "../../../domain/ports/index.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { causeText } from "../../../domain/stream.ts";
import { tryAgent } from "../../setup/try-agent.ts";
import { screenColumns, wrapText } from "../output/wrap.ts";
import { answered, barUnits, isAddress, notEmpty, text } from "./prompts.ts";

export type Provider = "openai-compatible" | "anthropic" | "openai";

export interface ModelAnswers {
  readonly provider: Provider;
  /** Empty: the vendor's own. */
  readonly baseUrl: string;
  readonly model: string;
  /** Null: none is needed, or it is in the environment. */
  readonly key: string | null;
}

const listMsMax = 10_000;
const tryMsMax = 60_000;
const offeredMax = 40;
const another = "Another name";

/** Asks until the server answers, or the person keeps what was entered. */
export async function askModel(
  provider: Provider,
  plain: { readonly baseUrl: string; readonly model: string },
): Promise<ModelAnswers> {
  const isVendor = provider !== "openai-compatible";
  for (let offered = plain.baseUrl; ; ) {
    const baseUrl = isVendor ? "" : await text("Base URL?", offered, isAddress);
    offered = baseUrl;
    const pasted = answered(await ask.password({ message: "API key? (optional)" })).trim();
    const key = pasted === "" ? null : pasted;
    const server = {
      provider,
      ...(baseUrl !== "" && { baseUrl }),
      ...(key !== null && { apiKey: key }),
    };
    const models = await listed(server);
    if (models === "retry") continue;
    return { provider, baseUrl, model: await chooseModel(models, plain.model), key };
  }
}

async function listed(
  server: Parameters<typeof listModels>[0],
): Promise<readonly string[] | "retry"> {
  const spinner = ask.spinner();
  spinner.start("Listing models");
  try {
    const models = await listModels(server, AbortSignal.timeout(listMsMax));
    spinner.stop(
      models === null ? "The server responds, but lists no models" : `${models.length} models`,
    );
    return models ?? [];
  } catch (error) {
    spinner.stop("That did not work");
    warn(causeText({ kind: kindOf(error), message: error instanceof Error ? error.message : "" }));
    const again = answered(await ask.confirm({ message: "Enter it again?", initialValue: true }));
    return again ? "retry" : [];
  }
}

async function chooseModel(models: readonly string[], plain: string): Promise<string> {
  if (models.length > 0) {
    const shown = models.slice(0, offeredMax);
    const chosen = answered(
      await ask.select<string>({
        message: "Choose a model",
        options: [...shown, another].map((value) => ({ value, label: terminalSafe(value) })),
        maxItems: 10,
      }),
    );
    if (chosen !== another) return chosen;
  }
  return text("Name of the model?", plain, notEmpty);
}

/** Its first words, as they come. */
export async function tryModel(
  { provider, baseUrl, model, key }: ModelAnswers,
  agent: { readonly name: string; readonly purpose: string },
): Promise<void> {
  const wants = answered(await ask.confirm({ message: "Try it now?", initialValue: true }));
  if (!wants) return;
  const driver = drivers.get("model");
  const own = {
    kind: "model",
    provider,
    model,
    ...(baseUrl !== "" && { baseUrl }),
    ...(key !== null && { apiKey: key }),
  };
  const parsed = driver?.configSchema.safeParse(own);
  if (driver === undefined || parsed?.success !== true) return warn("Its options are invalid");
  const tried = { ...agent, driver, config: parsed.data };
  let problem: string | null = null;
  async function* words(): AsyncGenerator<string> {
    try {
      const events = tryAgent(tried, createSystemClock(), AbortSignal.timeout(tryMsMax));
      for await (const event of events)
        if (event.type === "text") yield terminalSafe(event.text);
        else if (event.type === "error")
          problem = causeText({ kind: event.kind ?? "crashed", message: event.message });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      problem = causeText({ kind: kindOf(error), message });
    }
  }
  await ask.stream.message(words());
  if (problem !== null) warn(redactSecrets(problem, key === null ? [] : [key]));
}

function warn(message: string): void {
  const columns = Math.max(20, screenColumns(process.stdout) - barUnits);
  ask.log.warn(wrapText(terminalSafe(message), { columns }));
}
