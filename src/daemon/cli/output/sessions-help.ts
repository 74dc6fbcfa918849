/** The text of `earshot sessions --help`, command by command. */
import type { HelpText } from "./help-text.ts";

const key = "agent:main:telegram:group:-100123";
/** For examples that are long already. */
const mainKey = "agent:main:main";
const keys =
  "A session key names an agent and a chat; `earshot sessions` lists them. A session starts " +
  "with the first answer in a conversation; a reset archives it and starts a new one under the " +
  "same key.";

export const all: HelpText = {
  about: keys,
  examples: [
    "earshot sessions",
    [`earshot sessions show ${key}`, "settings, usage and the last messages"],
    `earshot sessions export ${key} > talk.jsonl`,
    `earshot sessions set ${key} --thinking high`,
    `earshot sessions reset ${key}`,
  ],
  exits: "0 done; 1 unknown session; 2 usage error or no running daemon.",
};
export const list: HelpText = {
  about: keys,
  examples: [
    "earshot sessions",
    "earshot sessions list --agent main --all",
    "earshot sessions --json | jq -r '.[].key'",
  ],
  exits: "0 listed; 2 no running daemon.",
};
export const show: HelpText = {
  examples: [`earshot sessions show ${key}`, `earshot sessions show ${key} --json`],
  exits: "0 shown; 1 unknown session; 2 usage error or no running daemon.",
};
export const exported: HelpText = {
  about:
    "Prints one JSON object per line, as in the session's file. docs/guide/sessions.md explains " +
    "the fields.",
  examples: [
    `earshot sessions export ${mainKey} | jq -r .text`,
    `earshot sessions export ${key} --out talk.jsonl`,
  ],
  exits: "0 exported; 1 unknown session; 2 usage error or no running daemon.",
};
export const set: HelpText = {
  about:
    "Applies from the next turn on (--queue, --send and --activation: immediately) and survives " +
    "a reset. `default` restores the value of the config.",
  examples: [
    `earshot sessions set ${mainKey} --model default --thinking low`,
    [`earshot sessions set ${key} --send deny`, "run turns, but send nothing"],
    [
      `earshot sessions set ${mainKey} --exec "security=allowlist ask=on-miss"`,
      "what an ACP agent may run; /approve answers its requests",
    ],
  ],
  exits: "0 set; 2 usage error or no running daemon.",
};
export const reset: HelpText = {
  about: "Nothing is deleted: `earshot sessions list --all` still shows the old transcript.",
  examples: [`earshot sessions reset ${key}`],
  exits: "0 done; 1 unknown session; 2 usage error or no running daemon.",
};
