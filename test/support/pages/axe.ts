/**
 * axe in a page
 * =============
 * The rules of WCAG 2.1 A and AA and the good habits beside them (landmarks, order of headings),
 * asked of what is shown. The program comes in through the debugger, so the strict content policy
 * of the pages stays in force while it runs. The contrast that axe leaves open is computed.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { inTurn } from "../rounds.ts";
import { contrastInPage } from "./contrast.ts";

/** What is asked: every rule, how much colours differ where nothing else has changed, or all but that. */
export type Asked = "everything" | "colours" | "structure";

/** Below it a pane of a page has the window for itself. */
const narrowPx = 700;

const require = createRequire(import.meta.url);
/** Without its comments it is half as long. */
const source = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const contrastRule = "color-contrast";
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];

interface Found {
  readonly id: string;
  readonly target: string;
  readonly why: string;
}

/** What breaks a rule, one line each: the rule, where, why. */
export async function violations(page: Page, asked: Asked): Promise<readonly string[]> {
  const only =
    asked === "colours" ? { type: "rule", values: [contrastRule] } : { type: "tag", values: tags };
  const rules = asked === "structure" ? { [contrastRule]: { enabled: false } } : {};
  // 0.6 MB: sent once a page.
  if (await page.evaluate("window.axe === undefined")) await page.evaluate(source);
  // Runs in the page, whose types this file does not have.
  const run = `(async () => {
    const options = {
      runOnly: ${JSON.stringify(only)},
      rules: ${JSON.stringify(rules)},
      resultTypes: ["violations", "incomplete"],
      elementRef: true,
    };
    const { violations, incomplete } = await axe.run(document, options);
    const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => ({
      id,
      target: node.target.join(" "),
      why: node.failureSummary.replace(/\\s+/g, " "),
    })));
    const contrast = ${contrastInPage};
    for (const { id, nodes } of incomplete)
      for (const node of id === "${contrastRule}" ? nodes : []) {
        const why = contrast(node);
        if (why !== null) found.push({ id, target: node.target.join(" "), why });
      }
    return found;
  })()`;
  const found = await page.evaluate<readonly Found[]>(run);
  return found.map(({ id, target, why }) => `${id}: ${target}: ${why}`);
}

/** So many calls came before in this process, which decides what is looked at of the next page. */
let looks = 0;

/**
 * The same of a light page and of the dark one, of which only colours can differ. In the longer runs each page is looked
 * at in both, and narrow ones as well, where what has enough contrast on a wide screen has it again; else pages take
 * turns: one is looked at in light, the next in dark.
 */
export async function violationsInBothColours(page: Page): Promise<readonly string[]> {
  const [first, ...others] = inTurn(["light", "dark"] as const, looks);
  looks += 1;
  await page.emulateMedia({ colorScheme: first ?? "light" });
  const { width = 0 } = page.viewportSize() ?? {};
  const isWide = width >= narrowPx || others.length > 0;
  const found = (await violations(page, isWide ? "everything" : "structure")).map(
    (one) => `${first}: ${one}`,
  );
  for (const colorScheme of others) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await violations(page, "colours")).map((one) => `${colorScheme}: ${one}`));
  }
  return found;
}
