/**
 * Whose code runs
 * ===============
 * A plugin may start work and lose its promise. Node.js would end the process for that rejection, so
 * plugins run in an asynchronous context that carries their name: a rejection that nobody handles is
 * reported with the name of the plugin that caused it, and everything else ends the process as before.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ChannelAccount, ChannelDefinition, Plugin } from "../../domain/ports/index.ts";

/** Made with the first plugin: contexts cost a little for each promise of the process. */
let running: AsyncLocalStorage<string> | null = null;

/** Runs a plugin's code in its context. */
export function asPlugin<Result>(name: string, run: () => Result): Result {
  running ??= new AsyncLocalStorage();
  return running.run(name, run);
}

/** An object whose methods run in the plugin's context, with the original as `this`. */
function scopedMethods<Target extends object>(
  name: string,
  target: Target,
  also: Partial<Target> = {},
): Target {
  const get = (_: object, key: string | symbol): unknown => {
    if (Object.hasOwn(also, key)) return also[key as keyof Target];
    const value: unknown = Reflect.get(target, key);
    if (typeof value !== "function") return value;
    return (...given: unknown[]) => asPlugin(name, () => Reflect.apply(value, target, given));
  };
  // Around an empty object: the fields of a frozen one could not be replaced.
  const around: ProxyHandler<object> = {
    get,
    has: (_, key) => key in target,
    ownKeys: () => Reflect.ownKeys(target),
    getOwnPropertyDescriptor: (own, key) =>
      Object.hasOwn(target, key)
        ? { value: get(own, key), configurable: true, enumerable: true, writable: true }
        : undefined,
  };
  return new Proxy({}, around) as Target;
}

function scopedAccount(name: string, account: ChannelAccount): ChannelAccount {
  const outbound = scopedMethods(name, account.outbound);
  const hook = account.hook === undefined ? {} : { hook: scopedMethods(name, account.hook) };
  return scopedMethods(name, account, { outbound, ...hook });
}

function scopedChannel(name: string, channel: ChannelDefinition): ChannelDefinition {
  const open: ChannelDefinition["open"] = (context) =>
    scopedAccount(
      name,
      asPlugin(name, () => channel.open(context)),
    );
  return scopedMethods(name, channel, { open });
}

/** The plugin with everything that is called of it running in its context. */
export function scopedPlugin(plugin: Plugin): Plugin {
  const { name, hooks, commands, channels } = plugin;
  return {
    name,
    ...(hooks && { hooks: scopedMethods(name, hooks) }),
    ...(commands && {
      commands: Object.fromEntries(
        Object.entries(commands).map(([word, command]) => [word, scopedMethods(name, command)]),
      ),
    }),
    ...(channels && { channels: channels.map((channel) => scopedChannel(name, channel)) }),
  };
}

/**
 * Reports rejections that plugins left behind until the returned function is called. A rejection of
 * anybody else ends the process, as without a listener.
 */
export function watchRejections(report: (plugin: string, reason: unknown) => void): () => void {
  const listener = (reason: unknown): void => {
    const plugin = running?.getStore();
    if (plugin !== undefined) report(plugin, reason);
    else if (process.listenerCount("unhandledRejection") === 1) throw reason;
  };
  process.on("unhandledRejection", listener);
  return () => void process.off("unhandledRejection", listener);
}
