/**
 * Which IP addresses belong to the public internet. Everything that the IANA special-purpose
 * registries list as not globally reachable is excluded, and so is every IPv6 form that embeds an
 * IPv4 address (mapped, NAT64, 6to4, Teredo), because the packet ends at the IPv4 address.
 */
import { BlockList, isIP } from "node:net";

const special = new BlockList();
const ranges: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
for (const [net, prefix] of ranges) special.addSubnet(net, prefix, "ipv4");
const special6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];
for (const [net, prefix] of special6) special.addSubnet(net, prefix, "ipv6");
/** Global unicast: the only part of IPv6 that is assigned to the public internet. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** Whether an address is public. False for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, "ipv4");
  if (family !== 6) return false;
  return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6");
}
