/** What `earshot config check` and `doctor` say about converters that cannot run here. */
import { describe, expect, test } from "vitest";
import { mediaWarnings } from "../../../src/adapters/media/check.ts";
import { configProblems, parseConfig } from "../../../src/domain/config/index.ts";
import { findingText } from "../../../src/domain/config-finding.ts";

const program = (command: string) => ({ kind: "command", command, args: ["{file}"] });

describe("media warnings", () => {
  test("a program that is not there is named with its place; one that is there is not", async () => {
    const config = parseConfig({
      media: { audio: program("no-such-whisper"), image: program("sh") },
      channels: { telegram: { media: { video: program("/nowhere/ffmpeg") } } },
      conversations: {
        "agent:main:irc:group:1": {
          media: {
            video: {
              kind: "model",
              baseUrl: "http://127.0.0.1:1/v1",
              model: "m",
              frame: { command: "no-such-frame", args: ["{file}"] },
            },
          },
        },
      },
    });
    const warnings = await mediaWarnings(config);
    expect(warnings.map((warning) => findingText(warning).split(" cannot be run")[0])).toEqual([
      "media.audio.command: no-such-whisper",
      "channels.telegram.media.video.command: /nowhere/ffmpeg",
      'conversations["agent:main:irc:group:1"].media.video.frame.command: no-such-frame',
    ]);
  });

  test("nothing is said where nothing is configured, or everything is there", async () => {
    expect(await mediaWarnings(parseConfig({}))).toEqual([]);
    const links = { kind: "extract" };
    const fine = parseConfig({ media: { audio: program(process.execPath), links } });
    expect(await mediaWarnings(fine)).toEqual([]);
  });

  test("a path has to be a whole one, as nobody would know where it starts", () => {
    const [problem] = configProblems({ media: { audio: program("./whisper") } });
    expect(problem?.message).toContain("media.audio.command is invalid");
  });
});
