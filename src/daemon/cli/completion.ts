/**
 * `earshot completion`: commands and options for bash, zsh and fish, made from the commands
 * themselves, so a new command is completed without another list to keep.
 */
import { Argument, type Command } from "commander";
import { type Lesson, teach } from "./help.ts";
import { print } from "./shared.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

interface Completed {
  readonly name: string;
  readonly description: string;
  readonly words: readonly string[];
}

const lesson: Lesson = {
  about: "Commands and options, made from the commands themselves. A new shell knows them.",
  examples: [
    "earshot completion bash > ~/.local/share/bash-completion/completions/earshot",
    ["earshot completion zsh > ~/.zfunc/_earshot", "with ~/.zfunc in fpath before compinit"],
    "earshot completion fish > ~/.config/fish/completions/earshot.fish",
  ],
  exits: "0 printed, 2 no such shell.",
};

export function addCompletionCommand(program: Command): void {
  teach(program.command("completion"), lesson)
    .description("Print a completion script for a shell")
    .addArgument(new Argument("<shell>", "which shell").choices(shells))
    .action((shell: Shell) => print(scripts[shell](completed(program))));
}

function completed(program: Command): readonly Completed[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description:
      command
        .description()
        .split("\n")[0]
        ?.replaceAll(/['"`$\\[\]:]/g, "") ?? "",
    words: [
      ...command.commands.map((sub) => sub.name()),
      ...command.options.flatMap(({ long }) => long ?? []),
      "--help",
    ],
  }));
}

const scripts: Readonly<Record<Shell, (commands: readonly Completed[]) => string>> = {
  bash: (commands) => `_earshot() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -le 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map(({ name, words }) => `    ${name}) COMPREPLY=($(compgen -f -W "${words.join(" ")}" -- "$word"));;`).join("\n")}
  esac
}
complete -o default -F _earshot earshot`,
  zsh: (commands) => `#compdef earshot
if (( CURRENT == 2 )); then
  local -a commands=(
${commands.map(({ name, description }) => `    '${name}:${description}'`).join("\n")}
  )
  _describe command commands
  return
fi
case "$words[2]" in
${commands.map(({ name, words }) => `  ${name}) compadd -- ${words.join(" ")};;`).join("\n")}
esac
_files`,
  fish: (commands) =>
    commands
      .flatMap(({ name, description, words }) => [
        `complete -c earshot -n __fish_use_subcommand -a ${name} -d '${description}'`,
        ...words.map(
          (word) =>
            `complete -c earshot -n '__fish_seen_subcommand_from ${name}' ${
              word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${word}`
            }`,
        ),
      ])
      .join("\n"),
};
