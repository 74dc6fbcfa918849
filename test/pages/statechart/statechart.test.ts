/**
 * The statechart of the Room page: each step that changed a state with the event that took it, stepping
 * back by keys and by choosing, what the chart shows meanwhile, the message it belongs to, after a reload
 * and from a snapshot, and the way to the Stately inspector. Its usual ways are ways of the machine.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { RoomTransition } from "../../../src/daemon/api-types/room-transitions.ts";
import { conversationMachine } from "../../../src/machines/conversation.machine.ts";
import { roomHref } from "../../../web/src/lib/route.ts";
import { drawn, usualEdges } from "../../../web/src/room/chart-edges.ts";
import {
  aside,
  group,
  type LiveDaemon,
  person,
  toScout,
} from "../../support/daemon/live-daemon.ts";
import { violationsInBothColours } from "../../support/pages/axe.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";

const key = "agent:main:webhook:group:#shed";

interface Node {
  readonly on?: Readonly<Record<string, unknown>>;
  readonly states?: Readonly<Record<string, Node>>;
  readonly always?: readonly { readonly target?: string }[];
}

/** Every way of a region from a state to another, as `from event to`; `next` is passed through. */
function waysOf(path: string, node: Node, above: Readonly<Record<string, unknown>>): string[] {
  const on = { ...above, ...node.on };
  if (node.states !== undefined)
    return Object.entries(node.states).flatMap(([name, state]) =>
      waysOf(path === "" ? name : `${path}.${name}`, state, path === "" ? {} : on),
    );
  const siblings = path.slice(0, path.lastIndexOf("."));
  return Object.entries(on).flatMap(([event, transitions]) =>
    [transitions].flat().flatMap((one) => {
      const target = (one as { readonly target?: string }).target;
      if (target === undefined) return [];
      if (target !== "next") return [`${path} ${event} ${siblings}.${target}`];
      return ["observing", "engaged.gathering", "engaged.waiting", "engaged.settling"].map(
        (state) => `${path} ${event} attention.${state}`,
      );
    }),
  );
}

describe("the ways of the chart", () => {
  test("those that are always drawn are ways of the machine, and each has a place", () => {
    const ways = new Set(waysOf("", conversationMachine.config as unknown as Node, {}));
    for (const edge of usualEdges) {
      expect(drawn(edge), `${edge.from} ${edge.to}`).not.toBeNull();
      if (edge.from.startsWith("typing.")) continue;
      expect([...ways]).toContain(`${edge.from} ${edge.event} ${edge.to}`);
    }
  });
});

describe.skipIf(!haveChromium)("the statechart of the Room page", () => {
  const rig = createPagesRig({ kept: true });
  let daemon: LiveDaemon;
  const ann = { chat: group("#shed"), author: person("Ann") };
  const read = async () => {
    const answer = await daemon.ask(`/rooms/${encodeURIComponent(key)}/transitions`);
    return (answer as { readonly transitions: readonly RoomTransition[] }).transitions;
  };

  beforeAll(async () => {
    const runs = [{ steps: [{ text: "On it." }] }, { steps: [{ text: "Done." }] }];
    daemon = await rig.daemon({
      agents: { list: [{ id: "main", name: "Scout", driver: { kind: "scripted", runs } }] },
      messages: { inbound: { debounceMs: 0 } },
    });
    await daemon.start();
    await daemon.say({ ...ann, text: "It rains in.", ...aside });
    await daemon.say({ ...ann, text: "@Scout mend it", ...toScout });
    await vi.waitFor(async () => {
      expect((await read()).at(-1)?.to.attention).toBe("observing");
    }, 20_000);
  });
  const open = async () => {
    const page = await rig.open(daemon.address(roomHref(key)));
    await page.locator(".taken-list li").first().waitFor({ state: "attached" });
    return page;
  };
  const lit = (page: Page) =>
    page
      .locator(".chart .node.lit")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-node")));
  const taken = (page: Page) =>
    page
      .locator(".chart [data-taken]")
      .evaluateAll((all) =>
        all.map(
          (one) => `${one.getAttribute("data-edge")} ${one.querySelector("text")?.textContent}`,
        ),
      );

  /** What lies on something else in the chart, in its units: half of one is no overlap. */
  const overlaps = (page: Page) =>
    page.locator(".chart").evaluate((chart) => {
      const svg = chart as SVGSVGElement;
      const all = [...svg.querySelectorAll<SVGGraphicsElement>("text, .node rect")];
      const boxes = all.map((one) => {
        const { x, y, width, height } = one.getBBox();
        // Above and below the letters a line of text is empty.
        const blank = one.tagName === "text" ? height * 0.15 : 0;
        const name = one.textContent || (one.parentElement?.getAttribute("data-node") ?? "");
        const of = one.closest(".node");
        return { name, of, x, y: y + blank, right: x + width, bottom: y + height - blank };
      });
      const { width, height } = svg.viewBox.baseVal;
      return boxes.flatMap((a, at) => {
        const isOut = a.x < 0 || a.y < 0 || a.right > width || a.bottom > height;
        const on = boxes.slice(at + 1).filter((b) => {
          if (a.of !== null && a.of === b.of) return false;
          const across = Math.min(a.right, b.right) - Math.max(a.x, b.x);
          return across > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.y, b.y) > 0.5;
        });
        return [...(isOut ? [`${a.name} is cut`] : []), ...on.map((b) => `${a.name} on ${b.name}`)];
      });
    });

  test("the daemon names the event, the way and the message of each, also after a restart", async () => {
    const before = await read();
    const ways = before
      .filter(({ from, to }) => from.attention !== to.attention)
      .map(({ event, from, to }) => `${event} ${from.attention} ${to.attention}`);
    expect(ways[0]).toMatch(/^message\.received observing engaged\./);
    expect(ways).toContain("lane.granted engaged.waiting engaged.running");
    expect(ways.at(-1)).toMatch(/ observing$/);
    expect(new Set(before.map(({ message }) => message))).toEqual(new Set([before[0]?.message]));
    await daemon.stop();
    await daemon.start();
    expect(await read()).toEqual(before);
  });

  describe("one after the other on one page", () => {
    let page: Page;
    beforeAll(async () => {
      page = await open();
    });

    test("keys step back and forward, the chart and its way follow, Escape is now again", async () => {
      await soon(() => lit(page)).toContain("attention.observing");
      const all = await read();
      await soon(() => page.locator(".taken-list li").count()).toBe(all.length);
      for (let at = all.length - 1; at >= 0; at -= 1) {
        await page.keyboard.press("[");
        const one = all[at] as RoomTransition;
        await soon(() => lit(page)).toContain(`attention.${one.to.attention}`);
        expect((await taken(page)).every((way) => way.endsWith(one.event))).toBe(true);
      }
      expect((await taken(page))[0]).toMatch(
        /^attention\.observing attention\.engaged\.\w+ message/,
      );
      await page.keyboard.press("[");
      await page.getByText(`1 of ${all.length}`).waitFor();
      await page.keyboard.press("]");
      await page.getByText(`2 of ${all.length}`).waitFor();
      await page.getByRole("button", { name: "Show message" }).click();
      await page.locator('.msg[aria-selected="true"]', { hasText: "@Scout mend it" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByText(`now, ${all.length} kept`).waitFor();
      await soon(() => lit(page)).toContain("attention.observing");
    });

    test("no name lies on another one, on a state or beyond the edge, now and at every step", async () => {
      const count = await page.locator(".taken-list li").count();
      const seen = new Set(await overlaps(page));
      for (let step = 0; step < count; step += 1) {
        await page.keyboard.press("[");
        for (const one of await overlaps(page)) seen.add(one);
        if (process.env.SHOTS && step === 2) await page.screenshot({ path: "/tmp/chart-step.png" });
      }
      expect([...seen]).toEqual([]);
    });

    test("new ones appear on the open page, choosing one shows it, and the inspector is a click away", async () => {
      await page.keyboard.press("Escape");
      const before = await page.locator(".taken-list li").count();
      await daemon.say({ ...ann, text: "@Scout and now?", ...toScout });
      await soon(() => page.locator(".taken-list li").count()).toBeGreaterThan(before + 2);
      await page.locator(".taken-list button", { hasText: "lane.granted" }).first().click();
      await soon(() => lit(page)).toContain("attention.engaged.running");
      await soon(() => taken(page)).toContain(
        "attention.engaged.waiting attention.engaged.running lane.granted",
      );
      const link = page.getByRole("link", { name: "Open in the Stately inspector" });
      expect(await link.getAttribute("href")).toMatch(/^\/inspect\?key=agent%3Amain.*#token=./);
      expect(await link.getAttribute("target")).toBe("_blank");
      expect(await violationsInBothColours(page)).toEqual([]);
      if (process.env.SHOTS) await page.screenshot({ path: "/tmp/chart-wide.png" });
      await page.setViewportSize({ width: 390, height: 900 });
      await page.getByRole("button", { name: "State", exact: true }).click();
      expect(await violationsInBothColours(page)).toEqual([]);
      if (process.env.SHOTS) await page.screenshot({ path: "/tmp/chart-390.png" });
    });
  });
});
