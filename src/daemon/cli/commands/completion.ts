/**
 * `earshot completion`: a script for bash, zsh or fish, generated from the commands themselves, so new
 * commands, options and values need no separate list.
 */
import { Argument, type Command, type Option } from "commander";
import { print } from "../lib/command.ts";
import { type Completable, scripts } from "../lib/completion-scripts.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

const help: HelpText = {
  about: "Completes commands, options and their values. Open a new shell to use it.",
  examples: [
    "earshot completion bash > ~/.local/share/bash-completion/completions/earshot",
    ["earshot completion zsh > ~/.zfunc/_earshot", "~/.zfunc must be in fpath before compinit"],
    "earshot completion fish > ~/.config/fish/completions/earshot.fish",
    ["source <(earshot completion bash)", "for this shell only; works with zsh too"],
  ],
  exits: "0 printed; 2 unknown shell.",
};

export function addCompletionCommand(program: Command): void {
  addHelp(program.command("completion"), help)
    .description("Print a shell completion script")
    .addArgument(new Argument("<shell>", "your shell").choices(shells))
    .action((shell: Shell) => print(scripts[shell](commandsOf(program))));
}

/** Every command and subcommand, the program itself first. */
function commandsOf(program: Command): readonly Completable[] {
  const collect = (command: Command, path: readonly string[]): Completable[] => {
    const subs = command.commands.filter((sub) => sub.name() !== "help");
    // What a group takes without a word is taken by its default command.
    const list = subs.find((sub) => sub.name() === defaultName);
    const own: Completable = {
      path,
      words: [
        ...subs.map((sub) => ({ word: sub.name(), about: plain(sub.description()) })),
        ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
          argChoices.map((word) => ({ word, about: "" })),
        ),
      ],
      isOpen: command.registeredArguments.some(({ argChoices = [] }) => argChoices.length === 0),
      options: [...[...command.options, ...(list?.options ?? [])].flatMap(optionOf), helpOption],
    };
    return [own, ...subs.flatMap((sub) => collect(sub, [...path, sub.name()]))];
  };
  return collect(program, []);
}

/** The default command of every group that has one. */
const defaultName = "list";

const helpOption = { name: "--help", about: "show help", value: null } as const;

function optionOf(option: Option): Completable["options"] {
  const { long, required, optional, argChoices } = option;
  if (typeof long !== "string") return [];
  const value = required || optional ? (argChoices ?? []) : null;
  return [{ name: long, about: plain(option.description), value }];
}

/** The first line, without characters that are special in a shell. */
const plain = (text: string): string =>
  (text.split("\n")[0] ?? "").replaceAll("'", "’").replaceAll(/[^\p{L}\p{N} .,:;/()_+’…-]/gu, "");
