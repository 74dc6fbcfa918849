/**
 * The same algorithm in three shells: find the command from the words typed so far, then offer its
 * subcommands, its options once a dash is typed, and the values of an option. Where any value is possible, the
 * shell offers files.
 */

/** What may follow a command. */
export interface Completable {
  /** The command's words; empty for the program itself. */
  readonly path: readonly string[];
  readonly words: readonly { readonly word: string; readonly about: string }[];
  /** Whether any word may follow it, such as the name of a file. */
  readonly isOpen: boolean;
  readonly options: readonly {
    readonly name: string;
    readonly about: string;
    /** What may follow it; empty: anything; null: nothing. */
    readonly value: readonly string[] | null;
  }[];
}

type Script = (commands: readonly Completable[]) => string;

/** A path in the form of the scripts: a blank before each word. */
const keyOf = ({ path }: Completable): string => path.map((word) => ` ${word}`).join("");
const keysBelow = (commands: readonly Completable[]): readonly string[] =>
  commands.filter(({ path }) => path.length > 0).map((command) => `"${keyOf(command)}"`);

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

/** Whether its options are offered before a dash is typed, as nothing else may follow. */
const hasOnlyOptions = ({ words, isOpen }: Completable): boolean => words.length === 0 && !isOpen;

const bash: Script = (commands) => `_earshot() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at="" one words="" options=""
  # Bash takes --option=value for three words.
  if [ "$word" = "=" ]; then word=""; elif [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  for one in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $one" in
      ${keysBelow(commands).join("|")}) at="$at $one";;
    esac
  done
  case "$at:$before" in
${values(commands, (value) => `COMPREPLY=($(compgen -W "${value.join(" ")}" -- "$word")); return`, "return")}
  esac
  case "$at" in
${commands.map((command) => `    "${keyOf(command)}") ${namesOf(command)};;`).join("\n")}
  esac
  case "$word" in -*) words="$options";; esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _earshot earshot`;

function namesOf(command: Completable): string {
  const options = command.options.map(({ name }) => name).join(" ");
  const words = command.words.map(({ word }) => word).join(" ");
  return `words="${hasOnlyOptions(command) ? options : words}" options="${options}"`;
}

const zsh: Script = (commands) => `#compdef earshot
_earshot() {
  local at="" one before="$words[CURRENT-1]"
  local -a found options
  case "$words[CURRENT]" in --*=*) before="\${words[CURRENT]%%=*}"; compset -P '*=';; esac
  for one in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $one" in
      ${keysBelow(commands).join("|")}) at="$at $one";;
    esac
  done
  case "$at:$before" in
${values(commands, (value) => `compadd -- ${value.join(" ")}; return`, "_files; return")}
  esac
  case "$at" in
${commands.map((command) => `    "${keyOf(command)}") ${described(command)};;`).join("\n")}
  esac
  case "$words[CURRENT]" in -*) found=("\${(@)options}");; esac
  if [ "$#found" -eq 0 ]; then _files; else _describe earshot found; fi
}
if [ "$funcstack[1]" = "_earshot" ]; then _earshot "$@"; else compdef _earshot earshot; fi`;

function described(command: Completable): string {
  const options = command.options.map(({ name, about }) => `'${name}:${about}'`).join(" ");
  const words = command.words.map(
    ({ word, about }) => `'${word}${about === "" ? "" : `:${about}`}'`,
  );
  return `found=(${hasOnlyOptions(command) ? options : words.join(" ")}) options=(${options})`;
}

/** Fish evaluates a condition for each word, and offers options only after a dash. */
const fish: Script = (commands) =>
  [
    "function __earshot_at",
    "  set -l at ''",
    "  for one in (commandline -opc)[2..-1]",
    '    switch "$at $one"',
    `      case ${keysBelow(commands).join(" ")}`,
    '        set at "$at $one"',
    "    end",
    "  end",
    '  test "$at" = "$argv[1]"',
    "end",
    "complete -c earshot -f",
    ...commands.flatMap((command) => {
      const when = `-n '__earshot_at "${keyOf(command)}"'`;
      return [
        ...(command.isOpen ? [`complete -c earshot ${when} -F`] : []),
        ...command.words.map(
          ({ word, about }) => `complete -c earshot ${when} -a ${word} -d '${about}'`,
        ),
        ...command.options.map(({ name, about, value }) => {
          const takes =
            value === null ? "" : value.length === 0 ? " -r -F" : ` -x -a '${value.join(" ")}'`;
          return `complete -c earshot ${when} -l ${name.slice(2)}${takes} -d '${about}'`;
        }),
      ];
    }),
  ].join("\n");

export const scripts: Readonly<Record<"bash" | "zsh" | "fish", Script>> = { bash, zsh, fish };
