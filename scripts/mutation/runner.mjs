// Stryker's test runner of `npm run mutation`: Vitest with test/support/mutation/driver.ts, which keeps
// the tests loaded. Stryker starts it in a process of its own, within its copy of the sources, and ends
// that process when a mutant does not end.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { commonTokens, declareFactoryPlugin, PluginKind } from "@stryker-mutator/api/plugin";
import { createVitest } from "vitest/node";

const driver = "test/support/mutation/driver.ts";
/** Of tests of other folders, only those that take less, in ms: they run for every survivor. */
const longestElsewhere = 500;
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

class Runner {
  /** What each test took without a mutant, in ms: written down, as a later process wants it, too. */
  #timesFile = join(process.cwd(), "test-times.json");
  #files;
  #vitest;
  #channel;
  #ids = [];
  #take = () => {};
  #broke = () => {};

  constructor(options) {
    this.#files = options.earshotTests;
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
      maxWorkers: 1,
      watch: false,
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

  #order(order) {
    return new Promise((resolve, reject) => {
      this.#take = ({ answer }) => resolve(answer);
      this.#broke = reject;
      this.#channel.postMessage(order);
    });
  }

  async dryRun() {
    const { outcomes, mutantCoverage } = await this.#order({ ids: this.#ids });
    writeFileSync(this.#timesFile, JSON.stringify(outcomes.map(({ id, ms }) => [id, ms])));
    const tests = outcomes.map(({ id, ms, error }) => ({
      id,
      name: id,
      timeSpentMs: ms,
      ...(error === undefined ? { status: 0 } : { status: 1, failureMessage: error }),
    }));
    return { status: "complete", tests, mutantCoverage };
  }

  /** The tests that cover the mutant: of its file first, then of its folder, the quickest first. */
  #inOrder(ids, fileName) {
    const times = new Map(JSON.parse(readFileSync(this.#timesFile, "utf8")));
    const folder = basename(dirname(fileName));
    const file = basename(fileName, ".ts");
    const rank = (id) => (id.includes(`/${file}.test.ts`) ? 0 : id.includes(`/${folder}/`) ? 1 : 2);
    return ids
      .filter((id) => rank(id) < 2 || (times.get(id) ?? 0) < longestElsewhere)
      .toSorted((a, b) => rank(a) - rank(b) || times.get(a) - times.get(b));
  }

  async mutantRun({ activeMutant, testFilter = this.#ids, hitLimit }) {
    const order = {
      ids: this.#inOrder(testFilter, activeMutant.fileName),
      mutant: activeMutant.id,
      hitLimit: hitLimit && Math.ceil(hitLimit * hitsFactor),
    };
    let answer = await this.#order(order);
    const isAlive = answer.outcomes.every(({ error }) => error === undefined);
    // A cache has kept what a mutant before made of it, or what the sources made of it.
    if (answer.isSpoiled || (isAlive && answer.hitCount < hitLimit / 200)) {
      await this.dispose();
      await this.init();
      answer = await this.#order(order);
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
  properties: { earshotTests: { type: "array", items: { type: "string" } } },
};

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, "earshot-tests-kept-loaded", create),
];
