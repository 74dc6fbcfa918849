/**
 * A certificate that signs itself, generated for each test: nothing expires and no key lies in the
 * repository. X.509 v3 in DER by hand (RFC 5280), with a P-256 key.
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...parts: readonly Uint8Array[]) => tagged(0x30, ...parts);
const oid = (hex: string) => tagged(0x06, Buffer.from(hex, "hex"));
const time = (at: Date) =>
  tagged(
    0x18,
    Buffer.from(
      `${at
        .toISOString()
        .replace(/[-:T]|\.\d+/g, "")
        .slice(0, 14)}Z`,
    ),
  );
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
const nameOf = (common: string) =>
  sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(common)))));

/** PEM of a certificate for 127.0.0.1 and the names, and of its key. `issuer`: who it says has signed it. */
export function selfSigned(common: string, names: readonly string[] = [], issuer = common) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const day = 86_400_000;
  const alternatives = sequence(
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
    ...names.map((name) => tagged(0x82, Buffer.from(name))),
  );
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(time(new Date(Date.now() - day)), time(new Date(Date.now() + day))),
    nameOf(common),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(sequence(oid("551d11"), tagged(0x04, alternatives)))),
  );
  const signature = tagged(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const base64 = sequence(body, ecdsaWithSha256, signature).toString("base64");
  const cert = `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
  return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
}
