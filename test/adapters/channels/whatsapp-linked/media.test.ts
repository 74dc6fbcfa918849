/** Files, encrypted as WhatsApp stores them, from people and to them. */
import { createCipheriv, createHmac, randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { getMediaKeys, type MediaType, type proto } from "baileys";
import { expect, onTestFinished, test } from "vitest";
import { whatsappLinkedChannel } from "../../../../src/adapters/channels/whatsapp-linked/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { speak, startLinked } from "../../../support/whatsapp-linked/linked-world.ts";

const never = new AbortController().signal;
const definition = whatsappLinkedChannel as ChannelDefinition;

/** The bytes of a file as they are stored: ciphertext and ten bytes of its authentication. */
async function sealed(plain: Buffer, key: Buffer, type: MediaType): Promise<Buffer> {
  const { iv, cipherKey, macKey } = await getMediaKeys(key, type);
  const encipher = createCipheriv("aes-256-cbc", cipherKey, iv);
  const cipher = Buffer.concat([encipher.update(plain), encipher.final()]);
  const mac = createHmac("sha256", macKey as Uint8Array)
    .update(iv)
    .update(cipher)
    .digest();
  return Buffer.concat([cipher, mac.subarray(0, 10)]);
}

/** An account that is open, and its account object for what the recorder does not have. */
async function rig() {
  const { server, device, config, folder, close } = await startLinked();
  const ann = server.person("15550107001", "90007001", "Ann");
  let opened: ReturnType<ChannelDefinition["open"]> | undefined;
  const watched: ChannelDefinition = {
    ...definition,
    open(context) {
      opened = definition.open(context);
      return opened;
    },
  };
  const channel = openChannel(watched, config, undefined, folder);
  onTestFinished(async () => {
    await channel.stop();
    await close();
  });
  await channel.live();
  const hear = async (message: proto.IMessage) =>
    channel.message(await speak(server, device, { by: ann, in: null, message }));
  const download = async (id: string) => {
    const stream = await opened?.downloadMedia?.(id, never);
    return text(stream as ReadableStream<Uint8Array>);
  };
  const chat = { id: ann.number, kind: "direct" } as const;
  const route = { channel: "whatsapp-linked", account: "default", thread: null, chat };
  return { server, ann, channel, hear, download, route };
}

test("a file of a person is fetched from WhatsApp's host and decrypted, whatever address the message names", async () => {
  const { server, hear, download } = await rig();
  const mediaKey = randomBytes(32);
  server.files.stored.set("/v/soup", await sealed(Buffer.from("soup!"), mediaKey, "image"));
  const { attachments } = await hear({
    imageMessage: {
      mimetype: "image/jpeg",
      mediaKey,
      directPath: "/v/soup?ccb=11",
      url: "http://169.254.169.254/latest",
    },
  });
  expect(await download(attachments[0]?.id ?? "")).toBe("soup!");
});

test("a file that is not the message's, or is gone, is refused", async () => {
  const { server, hear, download } = await rig();
  const mediaKey = randomBytes(32);
  const wrong = await sealed(Buffer.from("soup!"), randomBytes(32), "document");
  server.files.stored.set("/v/soup", wrong);
  const file = { mimetype: "text/plain", fileName: "a.txt", mediaKey };
  for (const directPath of ["/v/soup", "/v/gone"]) {
    const { attachments } = await hear({ documentMessage: { ...file, directPath } });
    await expect(download(attachments[0]?.id ?? "")).rejects.toMatchObject({
      code: "EAR_CHANNEL_REJECTED",
    });
  }
  const { attachments } = await hear({ documentMessage: { ...file, directPath: "@evil/x" } });
  await expect(download(attachments[0]?.id ?? "")).rejects.toThrow(/its key is not known/);
});

test("files of ours are stored encrypted, and shown as what they are", async () => {
  const { server, channel, hear, download, route } = await rig();
  const send = (id: string, mime: string, more = {}) =>
    channel.outbound.sendMedia?.({
      route,
      id,
      mime,
      name: "menu.pdf",
      data: Buffer.from(`bytes of ${id}`),
      signal: never,
      ...more,
    });
  await send("a", "image/png", { caption: "the *soup*" });
  await send("b", "audio/ogg; codecs=opus", { kind: "voice" });
  await send("c", "application/pdf");
  const shown = server.sent.map(({ message }) => message);
  expect(shown[0]?.imageMessage).toMatchObject({ caption: "the _soup_", mimetype: "image/png" });
  expect(shown[1]?.audioMessage).toMatchObject({ ptt: true });
  expect(shown[2]?.documentMessage).toMatchObject({ fileName: "menu.pdf" });
  for (const bytes of server.files.stored.values())
    expect(bytes.toString()).not.toContain("bytes of");
  // What a phone would do with it: here, the same account gets it forwarded.
  const { attachments } = await hear({ documentMessage: shown[2]?.documentMessage ?? null });
  expect(await download(attachments[0]?.id ?? "")).toBe("bytes of c");
});
