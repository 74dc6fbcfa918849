/**
 * `earshot completion`: a script for bash, zsh or fish, made from the commands themselves, so a new
 * command, an option or one of its values is completed without another list to keep.
 */
import { Argument, type Command, type Option } from "commander";
import { print } from "../lib/command.ts";
import { type Completable, scripts } from "../lib/completion-scripts.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

const lesson: HelpText = {
  about:
    "Commands, options and their values, made from the commands themselves. A new shell knows them.",
  examples: [
    "earshot completion bash > ~/.local/share/bash-completion/completions/earshot",
    ["earshot completion zsh > ~/.zfunc/_earshot", "with ~/.zfunc in fpath before compinit"],
    "earshot completion fish > ~/.config/fish/completions/earshot.fish",
    ["source <(earshot completion bash)", "in this shell only; zsh alike"],
  ],
  exits: "0 printed, 2 no such shell.",
};

export function addCompletionCommand(program: Command): void {
  addHelp(program.command("completion"), lesson)
    .description("Print a completion script for a shell")
    .addArgument(new Argument("<shell>", "which shell").choices(shells))
    .action((shell: Shell) => print(scripts[shell](commandsOf(program))));
}

/** Every command and subcommand, the program itself first. */
function commandsOf(program: Command): readonly Completable[] {
  const walk = (command: Command, path: readonly string[]): Completable[] => {
    const subs = command.commands.filter((sub) => sub.name() !== "help");
    const own: Completable = {
      path,
      words: [
        ...subs.map((sub) => ({ word: sub.name(), about: plain(sub.description()) })),
        ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
          argChoices.map((word) => ({ word, about: "" })),
        ),
      ],
      options: [...command.options.flatMap(optionOf), help],
    };
    return [own, ...subs.flatMap((sub) => walk(sub, [...path, sub.name()]))];
  };
  return walk(program, []);
}

const help = { name: "--help", about: "what it does", value: null } as const;

function optionOf(option: Option): Completable["options"] {
  const { long, required, optional, argChoices } = option;
  if (typeof long !== "string") return [];
  const value = required || optional ? (argChoices ?? []) : null;
  return [{ name: long, about: plain(option.description), value }];
}

/** The first line without what a shell could take for its own. */
const plain = (text: string): string =>
  (text.split("\n")[0] ?? "").replaceAll(/[^\p{L}\p{N} .,:;/()_+-]/gu, "");
