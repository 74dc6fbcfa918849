// Stryker's test runner of `npm run mutation`: Vitest with test/support/mutation/driver.ts, which keeps
// the tests loaded. Stryker starts it in a process of its own, within its copy of the sources, and ends
// that process when a mutant does not end.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { commonTokens, declareFactoryPlugin, PluginKind } from "@stryker-mutator/api/plugin";
import { createVitest } from "vitest/node";

const driver = "test/support/mutation/driver.ts";
/** Of tests of other folders, only those that take less, in ms: they run for every survivor. */
const longestElsewhere = 150;
/** With `--quick` of its own folder, too. */
const longestQuick = 400;
/** A mutant that takes this much processor time beyond the tests' own, in ms, does not end. */
const endless = 5_000;
/** How often as often as without a mutant one may run before it counts as endless. Stryker allows 100. */
const hitsFactor = 0.1;

/** Why Vitest has ended before it was asked to. */
function ended(modules, errors) {
  const tests = modules.flatMap((one) => [...one.children.allTests()]);
  const all = [
    ...errors,
    ...modules.flatMap((one) => [
      ...one.errors(),
      ...[...one.children.allSuites()].flatMap((suite) => suite.errors()),
    ]),
    ...tests.flatMap((one) => one.result().errors ?? []),
  ];
  return new Error(`Vitest ended: ${all.map(({ message, stack }) => stack ?? message).join("; ")}`);
}

/** Whether a test is of this folder of src/machines; the charts have theirs beside it, and with the conversation. */
const isOf = (id, folder) =>
  folder === "machines"
    ? /^test\/machines\/(?:conversation\/|[^/]+\.test\.ts)/u.test(id)
    : id.startsWith(`test/machines/${folder}/`);

class Runner {
  /** What each test took without a mutant, in ms: kept, as later processes and runs want it, too. */
  #timesFile = join(process.cwd(), "node_modules", ".cache", "mutation-times.json");
  #times = new Map();
  #files;
  #folders;
  /** Long tests are left out, and a survivor is not tried again with nothing kept of the mutants before it. */
  #quick;
  #thread;
  #vitest;
  #channel;
  #ids = [];
  #take = () => {};
  #broke = () => {};

  constructor(options) {
    this.#files = options.earshotTests;
    this.#folders = options.earshotFolders;
    this.#quick = options.earshotQuick;
    if (existsSync(this.#timesFile))
      this.#times = new Map(JSON.parse(readFileSync(this.#timesFile, "utf8")));
    process.on("worker", (thread) => {
      this.#thread = thread;
    });
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    const name = `earshot-mutation-${process.pid}`;
    this.#channel = new BroadcastChannel(name);
    const ready = new Promise((resolve, reject) => {
      this.#take = ({ ready }) => resolve(ready);
      this.#broke = reject;
    });
    this.#channel.onmessage = ({ data }) => this.#take(data);
    this.#vitest = await createVitest("test", {
      config: "vitest.config.ts",
      include: [driver],
      globalSetup: ["test/support/temp-folder.ts"],
      pool: "threads",
      // Those of vitest.config.ts are of a process: a thread may not set them.
      execArgv: [],
      maxWorkers: 1,
      watch: false,
      // The files with all mutants are of no use afterwards.
      experimental: { fsModuleCache: false },
      reporters: [{ onTestRunEnd: (modules, errors) => this.#broke(ended(modules, errors)) }],
      onConsoleLog: () => false,
    });
    this.#vitest.provide("mutation", { channel: name, files: this.#files });
    // Tests of machines start no threads, which would be loaded from there.
    this.#vitest.provide("builtFolder", join(process.cwd(), "dist"));
    this.#vitest.start([driver]).catch(this.#broke);
    this.#ids = await ready;
  }

  async dispose() {
    this.#channel.postMessage("close");
    await this.#vitest.close();
    this.#channel.close();
  }

  /** The answer to an order; null: it did not end, and the tests are loaded again. */
  async #order(order, cpuMax = Infinity) {
    const started = process.cpuUsage();
    let timer;
    const answer = await new Promise((resolve, reject) => {
      this.#take = ({ answer }) => resolve(answer);
      this.#broke = reject;
      this.#channel.postMessage(order);
      timer = setInterval(() => {
        const { user, system } = process.cpuUsage(started);
        if ((user + system) / 1_000 > cpuMax) resolve(null);
      }, 500);
    }).finally(() => clearInterval(timer));
    if (answer === null) {
      this.#broke = () => {};
      await this.#thread.terminate();
      this.#channel.close();
      // It waits for a thread that is gone.
      this.#vitest.close().catch(() => {});
      await this.init();
    }
    return answer;
  }

  async dryRun() {
    const ids = this.#ids.filter((id) => {
      const isOurs = this.#folders.some((folder) => isOf(id, folder));
      return (this.#times.get(id) ?? 0) < this.#longest(isOurs);
    });
    const { outcomes, mutantCoverage } = await this.#order({ ids });
    for (const { id, ms } of outcomes) this.#times.set(id, ms);
    writeFileSync(this.#timesFile, JSON.stringify([...this.#times]));
    const tests = outcomes.map(({ id, ms, error }) => ({
      id,
      name: id,
      timeSpentMs: ms,
      ...(error === undefined ? { status: 0 } : { status: 1, failureMessage: error }),
    }));
    return { status: "complete", tests, mutantCoverage };
  }

  /** Tests that take as long, in ms, are left out. */
  #longest(isOurs) {
    if (!isOurs) return longestElsewhere;
    return this.#quick ? longestQuick : Infinity;
  }

  /** The tests that cover the mutant: of its file first, then of its folder, the quickest first. */
  #inOrder(ids, fileName) {
    const folder = basename(dirname(fileName));
    const file = basename(fileName, ".ts").replace(/\.machine$/u, "");
    const rank = (id) => (id.includes(`/${file}.test.ts`) ? 0 : isOf(id, folder) ? 1 : 2);
    const ms = (id) => this.#times.get(id) ?? 0;
    return ids
      .filter((id) => ms(id) < this.#longest(rank(id) < 2))
      .toSorted((a, b) => rank(a) - rank(b) || ms(a) - ms(b));
  }

  async mutantRun({ activeMutant, testFilter = this.#ids, hitLimit }) {
    const order = {
      ids: this.#inOrder(testFilter, activeMutant.fileName),
      mutant: activeMutant.id,
      hitLimit: hitLimit && Math.ceil(hitLimit * hitsFactor),
    };
    const cpuMax = order.ids.reduce((all, id) => all + 3 * (this.#times.get(id) ?? 0), endless);
    let answer = await this.#order(order, cpuMax);
    if (answer === null) return { status: "timeout" };
    const isAlive = answer.outcomes.every(({ error }) => error === undefined);
    // A cache has kept what a mutant before made of it, or what the sources made of it.
    const isDoubtful = isAlive && !this.#quick && answer.hitCount < hitLimit / 200;
    if (answer.isSpoiled || isDoubtful) {
      await this.dispose();
      await this.init();
      answer = await this.#order(order, cpuMax);
      if (answer === null) return { status: "timeout" };
      if (answer.isSpoiled) {
        await this.dispose();
        await this.init();
      }
    }
    const { outcomes, hitCount } = answer;
    const killer = outcomes.find(({ error }) => error !== undefined);
    const nrOfTests = outcomes.length;
    if (hitCount > order.hitLimit) return { status: "timeout" };
    if (killer === undefined) return { status: "survived", nrOfTests };
    return { status: "killed", killedBy: [killer.id], failureMessage: killer.error, nrOfTests };
  }
}

const create = (options) => new Runner(options);
create.inject = [commonTokens.options];

export const strykerValidationSchema = {
  type: "object",
  properties: {
    earshotTests: { type: "array", items: { type: "string" } },
    earshotFolders: { type: "array", items: { type: "string" } },
    earshotQuick: { type: "boolean" },
  },
};

/** A line for each file that is done, as a run takes long. */
function createProgress() {
  const left = new Map();
  const counts = new Map();
  return {
    onMutationTestingPlanReady({ mutantPlans }) {
      for (const { mutant } of mutantPlans)
        left.set(mutant.fileName, (left.get(mutant.fileName) ?? 0) + 1);
    },
    onMutantTested({ fileName, status }) {
      const before = counts.get(fileName) ?? {};
      counts.set(fileName, { ...before, [status]: (before[status] ?? 0) + 1 });
      left.set(fileName, left.get(fileName) - 1);
      if (left.get(fileName) > 0) return;
      const found = JSON.stringify(counts.get(fileName));
      process.stderr.write(`${relative(process.cwd(), fileName)} ${found}\n`);
    },
  };
}
createProgress.inject = [];

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, "earshot-tests-kept-loaded", create),
  declareFactoryPlugin(PluginKind.Reporter, "earshot-progress", createProgress),
];
