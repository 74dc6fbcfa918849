/**
 * The same algorithm in three shells: find the command from the words typed so far, then offer its
 * subcommands, options and the values of an option. Where any value is possible, the shell offers
 * files.
 */

/** What may follow a command. */
export interface Completable {
  /** The command's words; empty for the program itself. */
  readonly path: readonly string[];
  readonly words: readonly { readonly word: string; readonly about: string }[];
  readonly options: readonly {
    readonly name: string;
    readonly about: string;
    /** What may follow it; empty: anything; null: nothing. */
    readonly value: readonly string[] | null;
  }[];
}

type Script = (commands: readonly Completable[]) => string;

/** A path in the form of the bash and zsh scripts: a blank before each word. */
const keyOf = ({ path }: Completable): string => path.map((word) => ` ${word}`).join("");
const below = (commands: readonly Completable[]): string =>
  commands
    .filter(({ path }) => path.length > 0)
    .map((command) => `"${keyOf(command)}"`)
    .join("|");

/** The options that take a value, each with its completion. */
function values(
  commands: readonly Completable[],
  listed: (value: readonly string[]) => string,
  open: string,
): string {
  return commands
    .flatMap((command) =>
      command.options.flatMap(({ name, value }) =>
        value === null
          ? []
          : [`    "${keyOf(command)}:${name}") ${value.length === 0 ? open : listed(value)};;`],
      ),
    )
    .join("\n");
}

const bash: Script = (commands) => `_earshot() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at="" one words=""
  # Bash takes --option=value for three words.
  if [ "$word" = "=" ]; then word=""; elif [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  for one in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $one" in
      ${below(commands)}) at="$at $one";;
    esac
  done
  case "$at:$before" in
${values(commands, (value) => `COMPREPLY=($(compgen -W "${value.join(" ")}" -- "$word")); return`, "return")}
  esac
  case "$at" in
${commands.map((command) => `    "${keyOf(command)}") words="${namesOf(command)}";;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _earshot earshot`;

const namesOf = ({ words, options }: Completable): string =>
  [...words.map(({ word }) => word), ...options.map(({ name }) => name)].join(" ");

const zsh: Script = (commands) => `#compdef earshot
_earshot() {
  local at="" one before="$words[CURRENT-1]"
  local -a found
  for one in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $one" in
      ${below(commands)}) at="$at $one";;
    esac
  done
  case "$at:$before" in
${values(commands, (value) => `compadd -- ${value.join(" ")}; return`, "_files; return")}
  esac
  case "$at" in
${commands.map((command) => `    "${keyOf(command)}") found=(${described(command)});;`).join("\n")}
  esac
  _describe earshot found || _files
}
if [ "$funcstack[1]" = "_earshot" ]; then _earshot "$@"; else compdef _earshot earshot; fi`;

const described = ({ words, options }: Completable): string =>
  [
    ...words.map(({ word, about }) => `'${word}:${about}'`),
    ...options.map(({ name, about }) => `'${name}:${about}'`),
  ].join(" ");

/** Fish evaluates a condition for each word. */
const fish: Script = (commands) =>
  [
    "complete -c earshot -f",
    ...commands.flatMap((command) => {
      const { path, words, options } = command;
      const inside = path.map((word) => `__fish_seen_subcommand_from ${word}`);
      const subs = commands.filter(
        (command) =>
          command.path.length === path.length + 1 &&
          path.every((word, n) => command.path[n] === word),
      );
      const names = subs.map((sub) => sub.path.at(-1)).join(" ");
      const here = [
        ...inside,
        ...(names === "" ? [] : [`not __fish_seen_subcommand_from ${names}`]),
      ];
      const when = here.length === 0 ? "" : ` -n '${here.join("; and ")}'`;
      return [
        ...words.map(({ word, about }) => `complete -c earshot${when} -a ${word} -d '${about}'`),
        ...options.map(({ name, about, value }) => {
          const takes =
            value === null ? "" : value.length === 0 ? " -r -F" : ` -x -a '${value.join(" ")}'`;
          return `complete -c earshot${when} -l ${name.slice(2)}${takes} -d '${about}'`;
        }),
      ];
    }),
  ].join("\n");

export const scripts: Readonly<Record<"bash" | "zsh" | "fish", Script>> = { bash, zsh, fish };
