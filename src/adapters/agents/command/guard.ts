/**
 * The guard of this process's programs
 * ====================================
 * A shell that knows the process groups of the programs that run, and ends them when earshot's process is gone,
 * however it went: its input ends then. One for all, started with the first program: starting a process copies the
 * page tables of this one (28 ms at a gigabyte), so a guard for each program would double the price of a turn.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Lines in: `+ group`, `- group`. */
const script = `
groups=
while read -r sign group; do
  case $sign in
    +) groups="$groups $group" ;;
    -) kept=
      for one in $groups; do [ "$one" = "$group" ] || kept="$kept $one"; done
      groups=$kept ;;
  esac
done
[ -n "$groups" ] || exit
for one in $groups; do kill -s TERM -- "-$one"; done
sleep 1
for one in $groups; do kill -s KILL -- "-$one"; done`;

const guarded = new Set<number>();
let watcher: ChildProcess | null = null;

function startWatcher(): ChildProcess {
  const started = spawn("/bin/sh", ["-c", script, "earshot-guard"], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
  });
  const isGone = (): void => {
    if (watcher === started) watcher = null;
  };
  // Without a shell or free processes there is no guard; everything else works. The next program tries again.
  started.on("error", isGone);
  started.on("exit", isGone);
  started.stdin?.on("error", () => undefined);
  // It keeps nobody from ending: its own end is that of this process.
  started.unref();
  (started.stdin as Socket | null)?.unref();
  return started;
}

/** Guards a process group. Returns the function that dismisses it. */
export function guard(group: number): () => void {
  guarded.add(group);
  if (watcher === null) {
    watcher = startWatcher();
    for (const one of guarded) watcher.stdin?.write(`+ ${one}\n`);
  } else watcher.stdin?.write(`+ ${group}\n`);
  return () => {
    guarded.delete(group);
    watcher?.stdin?.write(`- ${group}\n`);
  };
}
