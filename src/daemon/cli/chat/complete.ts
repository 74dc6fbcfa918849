/**
 * Tab in `earshot chat`
 * =====================
 * Completes a command at the beginning of the line, from the table of the connected daemon (which
 * includes skills and plugins) and from the commands of the terminal itself. A daemon that does not
 * answer completes nothing.
 */
import type { Completer } from "node:readline";
import { z } from "zod";
import { callApi, type DaemonAddress } from "../lib/api-client.ts";

const answerSchema = z.object({
  commands: z.array(
    z.object({ name: z.string(), aliases: z.array(z.string()), usage: z.string() }),
  ),
});
type Known = z.output<typeof answerSchema>["commands"];

/** A command of the terminal itself. */
const attach: Known[number] = { name: "attach", aliases: [], usage: "path" };

/** A completion in the form of readline's asynchronous completers. */
export type AsyncCompleter = (
  line: string,
  done: (error: null, result: ReturnType<Completer>) => void,
) => void;

export function createCompleter(find: () => Promise<DaemonAddress | null>): AsyncCompleter {
  let known: Known | null = null;
  const commands = async (): Promise<Known> => {
    if (known !== null) return known;
    const daemon = await find();
    if (daemon === null) return [];
    const { commands: offered } = answerSchema.parse(await callApi(daemon, "/api/commands"));
    known = [...offered, attach];
    return known;
  };
  return (line, done) => {
    // Only commands are completed.
    if (!/^\/[a-z0-9:_-]*$/i.test(line)) return done(null, [[], line]);
    void commands()
      .catch(() => [] as Known)
      .then((list) => done(null, [completions(line, list), line]));
  };
}

/** Names first; aliases only if no name fits. */
function completions(line: string, list: Known): string[] {
  const word = line.slice(1).toLowerCase();
  const fits = (name: string) => name.startsWith(word);
  const names = list.filter(({ name }) => fits(name));
  const written = ({ usage }: Known[number], name: string) =>
    usage === "" ? `/${name}` : `/${name} `;
  if (names.length > 0) return names.map((name) => written(name, name.name));
  return list.flatMap((item) => item.aliases.filter(fits).map((other) => written(item, other)));
}
