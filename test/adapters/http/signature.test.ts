/**
 * Signatures as rules: what was signed is known again, and whatever differs in a bit, a second or a
 * key is not, in both forms; addresses and names are read whole.
 */
import { createHash, createHmac } from "node:crypto";
import { isIP } from "node:net";
import fc from "fast-check";
import { expect } from "vitest";
import {
  readSignature,
  sameSecret,
  signatureHeaders,
  signsBody,
  signsDigest,
} from "../../../src/adapters/http/signature.ts";
import { knownHosts } from "../../../src/daemon/http/allowed-hosts.ts";
import { createClientAddresses } from "../../../src/daemon/http/client-address.ts";
import { isLoopbackHost } from "../../../src/domain/config/index.ts";
import { anyCharacter, property } from "../../support/property.ts";

const now = 1_800_000_000_000;
const windowMs = 300_000;
const secrets = fc.string({ minLength: 16, maxLength: 64, unit: "grapheme" });
// "binary" makes whole code points, so every text is its bytes.
const wellFormed = fc.string({ maxLength: 400, unit: anyCharacter });

/** The second form, as a client writes it: the digest of the body is signed instead of the body. */
function digestHeaders(secret: string, at: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const digest = createHash("sha256").update(body).digest("hex");
  const mac = createHmac("sha256", secret).update(`${timestamp}.digest:${digest}`).digest("hex");
  return {
    "earshot-timestamp": timestamp,
    "earshot-digest": `sha256=${digest}`,
    "earshot-signature": `sha256=${mac}`,
  };
}

/** Whether headers and body are taken, as a hook looks at them. */
function taken(
  secret: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: string,
  at = now,
): boolean {
  const signed = readSignature(headers, at, windowMs);
  if (typeof signed === "string") return false;
  if (signed.digest !== null && !signsDigest(secret, signed)) return false;
  return signsBody(secret, signed, Buffer.from(body));
}

const forms = fc.constantFrom(signatureHeaders, digestHeaders);

property([secrets, wellFormed, forms])("what was signed is taken", (secret, body, sign) => {
  expect(taken(secret, sign(secret, now, body), body)).toBe(true);
});

property([secrets, secrets, wellFormed, wellFormed, forms])(
  "another key or another body is not",
  (secret, other, body, different, sign) => {
    const headers = sign(secret, now, body);
    expect(taken(other, headers, body)).toBe(other === secret);
    expect(taken(secret, headers, different)).toBe(different === body);
  },
);

property([secrets, wellFormed, forms, fc.nat(), fc.nat({ max: 15 })])(
  "a signature with one figure changed is not",
  (secret, body, sign, place, figure) => {
    const headers = sign(secret, now, body);
    for (const name of Object.keys(headers).filter((one) => one !== "earshot-timestamp")) {
      const value = headers[name] as string;
      const at = "sha256=".length + (place % 64);
      const changed = value.slice(0, at) + figure.toString(16) + value.slice(at + 1);
      const same = changed.toLowerCase() === value;
      expect(taken(secret, { ...headers, [name]: changed }, body)).toBe(same);
    }
  },
);

property([secrets, wellFormed, forms, fc.integer({ min: -2_000, max: 2_000 })])(
  "the time is signed, too, and counts only inside the window",
  (secret, body, sign, offset) => {
    const headers = sign(secret, now + offset * 1_000, body);
    expect(taken(secret, headers, body)).toBe(offset >= -301 && offset <= 300);
    const moved = { ...headers, "earshot-timestamp": String(now / 1_000) };
    expect(taken(secret, moved, body)).toBe(offset === 0);
  },
);

property([secrets, wellFormed])("a signature of one form is none of the other", (secret, body) => {
  const digest = digestHeaders(secret, now, body);
  const { "earshot-digest": reported, ...bare } = digest;
  expect(taken(secret, bare, body)).toBe(false);
  expect(
    taken(secret, { ...signatureHeaders(secret, now, body), "earshot-digest": reported }, body),
  ).toBe(false);
});

property([fc.string(), fc.string()])("secrets are equal or not, whatever their length", (a, b) => {
  expect(sameSecret(a, b)).toBe(a === b);
  expect(sameSecret(a, a)).toBe(true);
});

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom("127.1", "0x7f.1", "localhost.", "127.0.0.1.evil.com", "127.evil.com", "::1"),
  fc.string(),
);

property([address])("only an address of loopback, or localhost, is loopback", (host) => {
  const isOne = isIP(host) === 4 ? host.startsWith("127.") : host === "::1" || host === "localhost";
  expect(isLoopbackHost(host)).toBe(isOne);
});

property([fc.oneof(fc.domain(), fc.ipV4(), fc.string()), fc.nat({ max: 65_535 })])(
  "no name but a bound one is known, in any spelling",
  (name, port) => {
    const known = knownHosts([{ host: "127.0.0.1", port: 4_747, scheme: "http" }]);
    const ours = new Set(["127.0.0.1:4747", "localhost:4747", "[::1]:4747"]);
    for (const header of [name, `${name}:${port}`, `${name}:4747`, `127.0.0.1:4747${name}`]) {
      expect(known.host(header)).toBe(ours.has(header.toLowerCase()));
      expect(known.origin(`http://${header}`)).toBe(ours.has(header.toLowerCase()));
    }
    expect(known.host("LocalHost:4747")).toBe(true);
  },
);

property([fc.array(fc.ipV4(), { maxLength: 8 }), fc.ipV4()])(
  "who is no proxy cannot choose his address",
  (claims, remote) => {
    const { address: addressOf, isHere } = createClientAddresses({
      proxies: ["10.9.9.9"],
      onlyProxies: false,
    });
    const headers = claims.length === 0 ? {} : { "x-forwarded-for": claims.join(", ") };
    const request = { headers, socket: { remoteAddress: remote } };
    if (remote !== "10.9.9.9") expect(addressOf(request)).toBe(remote);
    expect(isHere(request)).toBe(remote.startsWith("127.") && claims.length === 0);
    const last = claims.findLast((claim) => claim !== "10.9.9.9");
    const through = { headers, socket: { remoteAddress: "10.9.9.9" } };
    expect(addressOf(through)).toBe(last ?? "10.9.9.9");
  },
);
