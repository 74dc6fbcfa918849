/**
 * The `media` section: each driver takes its own options and nothing else, a wrong one is reported with
 * its place and the nearest name, and a more specific place replaces a converter whole.
 */
import { readFileSync } from "node:fs";
import JSON5 from "json5";
import { describe, expect, test } from "vitest";
import { configProblems, parseConfig, resolveMedia } from "../../../src/domain/config/index.ts";
import { withoutSecrets } from "../../../src/domain/config/parse/secrets.ts";

const messages = (media: unknown) => configProblems({ media }).map(({ message }) => message);
const whisper = { kind: "command", command: "whisper", args: ["{file}"] };
const vision = { kind: "model", baseUrl: "http://127.0.0.1:9/v1", model: "eyes" };

test("what docs/guide/media.md shows is a config", () => {
  const page = readFileSync(new URL("../../../docs/guide/media.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/```json5\n([\s\S]*?)```/g)].map(([, block]) => block as string);
  expect(blocks.length).toBeGreaterThan(2);
  for (const block of blocks) expect(configProblems(JSON5.parse(block))).toEqual([]);
  const { media } = parseConfig({});
  for (const [key, value] of Object.entries(media))
    if (typeof value === "number") expect(page).toContain(`${key}: ${value}`);
});

describe("media converters", () => {
  test("every driver of every kind is taken as documented", () => {
    const config = parseConfig({
      media: {
        audio: { ...vision, apiKey: "secret-key", language: "de" },
        image: { ...vision, prompt: "What is on it?" },
        video: { ...vision, frame: { command: "ffmpeg", args: ["-i", "{file}", "-"] } },
        links: { kind: "extract" },
        speech: { kind: "command", command: "say", args: ["-o", "{file}"] },
      },
    });
    expect(config.media.links).toEqual({ kind: "extract", countMax: 3, extractChars: 800 });
    expect(config.media.speech).toMatchObject({ mime: "audio/ogg", env: [] });
    expect(parseConfig(JSON.parse(JSON.stringify(config)))).toEqual(config);
  });

  test("a misspelt option is reported with its place and the nearest one", () => {
    expect(messages({ audio: { ...vision, modle: "x" } })).toEqual([
      'unknown key "modle" in media.audio. Did you mean "model"?',
    ]);
    expect(messages({ image: { ...whisper, argz: [] } })).toEqual([
      'unknown key "argz" in media.image. Did you mean "args"?',
    ]);
  });

  test("a driver that does not exist, and `pass` where nothing can be passed, are refused", () => {
    expect(messages({ audio: { kind: "whisper" } })[0]).toContain(
      'media.audio.kind is invalid: expected "model" or "command"',
    );
    expect(messages({ image: { kind: "modl" } })[0]).toContain("media.image.kind is invalid");
    expect(messages({ audio: "pass" })[0]).toContain("media.audio is invalid");
  });

  test("the file has to be an argument, whole and by itself", () => {
    expect(messages({ audio: { ...whisper, args: ["-f"] } })[0]).toContain('must be "{file}"');
    expect(messages({ audio: { ...whisper, args: ["in={file}", "{file}"] } })[0]).toContain(
      "an argument of its own",
    );
  });

  test("a key is a secret, and an address is one of the web", () => {
    const config = parseConfig({ media: { image: { ...vision, apiKey: "secret-key" } } });
    expect(JSON.stringify(withoutSecrets(config))).not.toContain("secret-key");
    expect(messages({ image: { ...vision, baseUrl: "file:///etc" } })[0]).toContain(
      "media.image.baseUrl is invalid",
    );
  });

  test("a more specific place replaces a converter whole, and keeps the rest", () => {
    const config = parseConfig({
      media: { timeoutMs: 5_000, image: { ...vision, prompt: "?" } },
      channels: { telegram: { media: { image: whisper, maxBytes: 10 } } },
      conversations: { "agent:main:telegram:group:-1": { media: { image: null } } },
    });
    const of = (channel: string, key: string) =>
      resolveMedia(config, { agentId: "main", key, channel, account: "default" });
    expect(of("irc", "agent:main:irc:group:1").image).toEqual({ ...vision, prompt: "?" });
    expect(of("telegram", "agent:main:telegram:group:-2")).toMatchObject({
      timeoutMs: 5_000,
      maxBytes: 10,
      image: { ...whisper, env: [] },
    });
    expect(of("telegram", "agent:main:telegram:group:-2").image).not.toHaveProperty("prompt");
    expect(of("telegram", "agent:main:telegram:group:-1").image).toBeNull();
  });
});
