/** Stanzas: nodes with attributes and children (https://github.com/sigalor/whatsapp-web-reveng). */
import { type BinaryNode, getBinaryNodeChild } from "baileys";

export type Attributes = Readonly<Record<string, string | undefined>>;

export function node(
  tag: string,
  attributes: Attributes = {},
  content?: BinaryNode["content"],
): BinaryNode {
  const attrs = Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  return content === undefined ? { tag, attrs } : { tag, attrs, content };
}

export const childrenOf = ({ content }: BinaryNode): readonly BinaryNode[] =>
  Array.isArray(content) ? content : [];

/** A child that must be there. */
export function child(of: BinaryNode, tag: string): BinaryNode {
  const found = getBinaryNodeChild(of, tag);
  if (found === undefined) throw new Error(`${of.tag} has no ${tag}`);
  return found;
}

export function bytesOf({ tag, content }: BinaryNode): Buffer {
  if (!(content instanceof Uint8Array)) throw new Error(`${tag} holds no bytes`);
  return Buffer.from(content);
}

export const numberOf = (of: BinaryNode): number => bytesOf(of).readUIntBE(0, bytesOf(of).length);

export const bigEndian = (value: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
};

export const server = "s.whatsapp.net";

/** The result of a query. */
export const resultOf = ({ attrs }: BinaryNode, content?: BinaryNode["content"]): BinaryNode =>
  node("iq", { from: attrs.to ?? server, type: "result", id: attrs.id }, content);

export const errorOf = ({ attrs }: BinaryNode, code: number, text: string): BinaryNode =>
  node("iq", { from: attrs.to ?? server, type: "error", id: attrs.id }, [
    node("error", { code: String(code), text }),
  ]);
