/**
 * The models of a server
 * ======================
 * Lists them, as "List models" of the API references of OpenAI and Anthropic has it; servers that are
 * compatible with OpenAI answer the same. It costs nothing and tries address and key.
 */
import { z } from "zod";
import { AgentFailure, kindOf, kindOfStatus, type TryResult } from "../../../domain/ports/index.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { causeText } from "../../../domain/stream.ts";
import { createHttpClient, type HttpAnswer } from "../../http/http-client.ts";
import type { ModelConfig, OneModel } from "./config.ts";

/** A server by which models are asked for: what is needed before one is chosen. */
export type ModelServer = Pick<OneModel, "provider" | "baseUrl" | "apiKey">;

const ownAddress: Readonly<Record<OneModel["provider"], string>> = {
  "openai-compatible": "",
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
};
/** Where the SDK of a provider looks for a key that the config does not have. */
const keyVariable: Readonly<Record<OneModel["provider"], string>> = {
  "openai-compatible": "",
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
};
/** The version of Anthropic's API reference. */
const anthropicVersion = "2023-06-01";
const listBytesMax = 4_194_304;
const listMsMax = 15_000;
const shownModelsMax = 8;
const bodyUnitsMax = 200;

const listSchema = z.object({ data: z.array(z.looseObject({ id: z.string().min(1) })) });

/**
 * The names of the server's models; null: it has no list.
 * @throws AgentFailure with the kind: `auth` for a refused key, `refused` without a connection.
 */
export async function listModels(
  server: ModelServer,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const query = server.provider === "anthropic" ? "?limit=1000" : "";
  const answer = await ask(server, `/models${query}`, signal);
  if (answer.status === 404 || answer.status === 405 || answer.status === 501) return null;
  if (answer.status >= 300) throw failureOf(server, answer);
  const list = listSchema.safeParse(jsonOf(answer));
  if (!list.success)
    throw new AgentFailure(
      "invalid",
      `${hostOf(server)} answered, but not with a list of models: is the base URL right?`,
    );
  return list.data.data.map(({ id }) => id);
}

/** Each model of a driver: whether its server answers, takes the key and has the model. */
export function probeModels(
  config: ModelConfig,
  signal: AbortSignal,
): Promise<readonly TryResult[]> {
  return Promise.all([config, ...config.fallbacks].map((model) => probe(model, signal)));
}

async function probe(entry: OneModel, signal: AbortSignal): Promise<TryResult> {
  const { model, provider } = entry;
  const host = hostOf(entry);
  try {
    const names = await listModels(entry, signal);
    if (names === null) {
      const says = `${host} answers, but lists no models below its base URL: is it right?`;
      return { state: "warning", says };
    }
    // Ollama lists the default tag that a name may leave out.
    if (names.includes(model) || names.includes(`${model}:latest`))
      return { state: "ok", says: `${host} takes the key and has ${model}` };
    if (provider !== "openai-compatible") return await probeName(entry, signal);
    return {
      state: "warning",
      says: `${host} does not list ${model}: it has ${someOf(names)}`,
    };
  } catch (error) {
    return { state: "wrong", says: textOf(error, entry) };
  }
}

/** An alias is not in the list; asked for by name, it is found. */
async function probeName(entry: OneModel, signal: AbortSignal): Promise<TryResult> {
  const answer = await ask(entry, `/models/${encodeURIComponent(entry.model)}`, signal);
  if (answer.status < 300)
    return { state: "ok", says: `${hostOf(entry)} takes the key and has ${entry.model}` };
  if (answer.status !== 404) throw failureOf(entry, answer);
  return { state: "wrong", says: `${hostOf(entry)} has no model ${entry.model}` };
}

function someOf(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length - shownModelsMax;
  const shown = names.slice(0, shownModelsMax).map((name) => oneLine(name));
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

async function ask(server: ModelServer, path: string, signal: AbortSignal): Promise<HttpAnswer> {
  const base = baseOf(server);
  const client = createHttpClient({ allowPrivate: [new URL(base).origin] });
  try {
    return await client.fetch(`${base.replace(/\/+$/u, "")}${path}`, {
      headers: { accept: "application/json", ...keyHeaders(server) },
      redirectsMax: 0,
      bytesMax: listBytesMax,
      msMax: listMsMax,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new AgentFailure(kindOf(error), `${hostOf(server)} cannot be reached`, error);
  }
}

function keyHeaders(server: ModelServer): Readonly<Record<string, string>> {
  const { provider } = server;
  const key = keyOf(server);
  if (provider === "anthropic")
    return { "anthropic-version": anthropicVersion, ...(key === "" ? {} : { "x-api-key": key }) };
  return key === "" ? {} : { authorization: `Bearer ${key}` };
}

const keyOf = ({ apiKey, provider }: ModelServer): string =>
  apiKey ?? process.env[keyVariable[provider]] ?? "";

const baseOf = ({ baseUrl, provider }: ModelServer): string => baseUrl ?? ownAddress[provider];

/** Never the whole address: it may hold a key. */
const hostOf = (server: ModelServer): string => new URL(baseOf(server)).host;

function failureOf(server: ModelServer, answer: HttpAnswer): AgentFailure {
  const { status } = answer;
  const kind = kindOfStatus(status);
  const host = hostOf(server);
  if (kind === "auth" && keyOf(server) === "")
    return new AgentFailure(kind, `${host} wants a key, and none is configured (HTTP ${status})`);
  if (kind === "auth") return new AgentFailure(kind, `${host} refuses the key (HTTP ${status})`);
  const said = oneLine(Buffer.from(answer.body).toString("utf8").slice(0, bodyUnitsMax));
  return new AgentFailure(
    kind,
    redactSecrets(`${host} answered ${status}: ${said}`, [keyOf(server)].filter(Boolean)),
  );
}

function jsonOf({ body }: HttpAnswer): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    // Refused by the schema, as any other answer that is not a list.
    return null;
  }
}

/** What an error says about this server, without its key. */
function textOf(error: unknown, server: ModelServer): string {
  const message = error instanceof Error ? error.message : String(error);
  return redactSecrets(
    causeText({ kind: kindOf(error), message }),
    [keyOf(server)].filter(Boolean),
  );
}
