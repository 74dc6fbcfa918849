/**
 * The owner of a conversation is the host with the highest score for it. When a host is removed
 * only its own conversations move, and two processes with the same hosts agree without
 * communication. The score is computed from the conversation's number, which is a hash of its key
 * already.
 */

/** The owner of `conv` among `hosts` (ids, not empty), the same for any order of `hosts`. */
export function ownerOf(conv: number, hosts: readonly number[]): number {
  let owner = hosts[0] as number;
  let best = -1;
  for (const host of hosts) {
    const score = mix(conv, host);
    if (score > best || (score === best && host < owner)) {
      best = score;
      owner = host;
    }
  }
  return owner;
}

/** 32 well-mixed bits of both numbers (the finaliser of MurmurHash3, which is public domain). */
function mix(conv: number, host: number): number {
  const low = conv >>> 0;
  const high = Math.floor(conv / 0x1_0000_0000) >>> 0;
  let bits = (low ^ Math.imul(high + 0x9e3779b9, 0x85ebca6b) ^ Math.imul(host + 1, 0xc2b2ae35)) | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
