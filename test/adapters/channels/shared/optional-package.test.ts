/** A package that only one platform needs, and that is not installed. */
import { expect, test } from "vitest";
import { loadPackage } from "../../../../src/adapters/channels/shared/optional-package.ts";

const wanted = { platform: "IRC", name: "irc-framework", version: "^4.14.0" };

test("a missing package is one line that names package and version", async () => {
  const absent = "a-package-that-nobody-has";
  const loading = loadPackage(wanted, () => import(/* @vite-ignore */ absent));
  await expect(loading).rejects.toMatchObject({
    code: "EAR_CHANNEL_CONFIG",
    disposition: "terminal",
    message: expect.stringMatching(
      /irc-framework is \w+\. Run npm install irc-framework@\^4\.14\.0$/,
    ),
  });
});

test("an installed one is what it exports", async () => {
  expect(await loadPackage(wanted, async () => 7)).toBe(7);
});
