/**
 * Calls plugins and does not trust them: each gets a copy and a time limit, and none can stop an
 * event that it watches. Watching hooks are not awaited, so a slow plugin delays nothing; the
 * answer about a text to send is awaited up to its limit. A plugin with too many open calls gets no
 * more until some have ended.
 */
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Clock, HookContext, HookName, Hooks, Log, Plugin } from "../../domain/ports/index.ts";
import { late, within } from "../../domain/ports/within.ts";
import { oneLine } from "../../domain/sanitize.ts";

export interface HookPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly plugins: readonly Plugin[];
  /** A call of a hook that changes or refuses, or a failed call. */
  readonly onCall: (call: HookCall) => void;
}

export interface HookCall {
  readonly plugin: string;
  readonly hook: HookName;
  readonly outcome: "changed" | "refused" | "failed" | "late" | "skipped";
}

type EventOf<Name extends HookName> = Parameters<NonNullable<Hooks[Name]>>[0];
type WatchingHook = Exclude<HookName, "message.sending">;

/** The result of asking plugins about a text. */
export type HookVerdict =
  | { readonly kind: "send"; readonly text: string }
  | { readonly kind: "refuse"; readonly why: string };

export interface HookRunner {
  /** Whether any plugin listens: without one the caller need not copy the event. */
  hears(name: HookName): boolean;
  /** Notifies the plugins that watch. Never throws. */
  notify<Name extends WatchingHook>(name: Name, event: EventOf<Name>): void;
  /**
   * Asks each plugin in turn about a text; each sees the result of the one before. Never rejects.
   */
  sending(event: EventOf<"message.sending">): Promise<HookVerdict>;
}

interface Listener {
  readonly plugin: Plugin;
  /** Calls that have not ended, awaited or not. */
  open: number;
}

const reasonUnitsMax = 200;
export function createHooks({ clock, log, plugins, onCall }: HookPorts): HookRunner {
  const listeners = plugins.map((plugin): Listener => ({ plugin, open: 0 }));

  function trouble(plugin: string, hook: HookName, outcome: HookCall["outcome"], error: unknown) {
    const reason = error instanceof Error ? error.message : String(error);
    log("warn", `hook.${outcome}`, { plugin, hook, error: oneLine(reason, reasonUnitsMax) });
    onCall({ plugin, hook, outcome });
  }

  const tooLate = () => new EarshotError("EAR_PLUGIN", "Cannot wait for the hook any longer");

  /** Calls one hook; undefined if it failed or is late. */
  async function call<Name extends HookName>(
    listener: Listener,
    name: Name,
    event: EventOf<Name>,
  ): Promise<unknown> {
    const { plugin } = listener;
    const hook = plugin.hooks?.[name] as
      | ((event: EventOf<Name>, context: HookContext) => unknown)
      | undefined;
    if (hook === undefined) return undefined;
    if (listener.open >= limits.hookCallsMax) {
      trouble(plugin.name, name, "skipped", `${listener.open} calls have not ended`);
      return undefined;
    }
    listener.open += 1;
    const answer = (signal: AbortSignal) =>
      (async () => hook(structuredClone(event), { signal }))().finally(() => {
        listener.open -= 1;
      });
    try {
      const result = await within(clock, limits.hookMsMax, answer, tooLate);
      if (result !== late) return result;
      trouble(plugin.name, name, "late", `it took longer than ${limits.hookMsMax} ms`);
    } catch (error) {
      trouble(plugin.name, name, "failed", error);
    }
    return undefined;
  }

  return {
    hears: (name) => listeners.some(({ plugin }) => plugin.hooks?.[name] !== undefined),
    notify(name, event) {
      for (const listener of listeners) void call(listener, name, event);
    },
    async sending(event) {
      let { text } = event;
      for (const listener of listeners) {
        const { name } = listener.plugin;
        const answer = await call(listener, "message.sending", { ...event, text });
        const change = changeOf(answer);
        if (change === null) continue;
        if ("wrong" in change) trouble(name, "message.sending", "failed", change.wrong);
        else if ("refuse" in change) {
          onCall({ plugin: name, hook: "message.sending", outcome: "refused" });
          return { kind: "refuse", why: `refused by the plugin ${name}: ${change.refuse}` };
        } else if (change.text !== text) {
          onCall({ plugin: name, hook: "message.sending", outcome: "changed" });
          text = change.text;
        }
      }
      return { kind: "send", text };
    },
  };
}

/** A hook's checked answer; null: nothing. */
function changeOf(
  answer: unknown,
): { readonly text: string } | { readonly refuse: string } | { readonly wrong: string } | null {
  if (answer === undefined || answer === null) return null;
  const { text, refuse } = answer as { text?: unknown; refuse?: unknown };
  if (typeof refuse === "string") return { refuse: oneLine(refuse, reasonUnitsMax) };
  if (typeof text !== "string" || refuse !== undefined)
    return { wrong: "its answer is neither { text } nor { refuse } nor nothing" };
  if (text.trim() === "") return { wrong: "its text is empty: to send nothing it says { refuse }" };
  if (text.length > limits.textUnitsMax) return { wrong: "its text is too long" };
  return { text };
}
