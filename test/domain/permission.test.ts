/** What is done with an agent's request for permission, over every policy that there is. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  defaultPermissionPolicy,
  execAskModes,
  execSecurities,
  judgePermission,
  type PermissionPolicy,
} from "../../src/domain/permission.ts";
import { property } from "../support/property.ts";

const securities = fc.constantFrom(...execSecurities);
const asks = fc.constantFrom(...execAskModes);
const exec = fc.record({ security: securities, ask: asks }, { requiredKeys: [] });
const policies = fc.record({
  exec,
  elevated: fc.constantFrom("off", "ask", "full"),
  owned: fc.boolean(),
}) as fc.Arbitrary<PermissionPolicy>;
const denied = { security: "deny", ask: "off" } as const;

describe("a request for permission", () => {
  property([policies, fc.boolean()])(
    "is never allowed without a question by what a session says, unless the turn is an owner's",
    (policy, listed) => {
      const verdict = judgePermission({ ...policy, owned: false }, denied, listed);
      expect(verdict).not.toBe("allow");
    },
  );

  property([asks, fc.boolean(), fc.boolean()])(
    "is refused where nobody said more than deny",
    (ask, owned, listed) => {
      const policy = {
        ...defaultPermissionPolicy,
        exec: { security: "deny", ask },
        owned,
      } as const;
      expect(judgePermission(policy, denied, listed)).toBe("deny");
      expect(judgePermission({ ...defaultPermissionPolicy, owned }, denied, listed)).toBe("deny");
    },
  );

  property([policies, securities, asks, fc.boolean()])(
    "is allowed more, never less, the more is said",
    (policy, security, ask, listed) => {
      const order = ["deny", "ask", "allow"];
      const at = (one: PermissionPolicy, on: boolean) =>
        order.indexOf(judgePermission(one, { security, ask }, on));
      expect(at(policy, true)).toBeGreaterThanOrEqual(at(policy, false));
      expect(at({ ...policy, owned: true }, listed)).toBeGreaterThanOrEqual(at(policy, listed));
      expect(at({ ...policy, elevated: "full", owned: true }, listed)).toBe(2);
    },
  );

  test.each([
    [{ security: "full" }, false, "allow"],
    [{ security: "full", ask: "always" }, true, "ask"],
    [{ security: "allowlist" }, true, "allow"],
    [{ security: "allowlist" }, false, "deny"],
    [{ security: "allowlist", ask: "on-miss" }, true, "allow"],
    [{ security: "allowlist", ask: "on-miss" }, false, "ask"],
    [{ security: "allowlist", ask: "always" }, true, "ask"],
  ] as const)("of an owner's turn under %j, listed %s: %s", (said, listed, verdict) => {
    const policy = { ...defaultPermissionPolicy, exec: said, owned: true };
    expect(judgePermission(policy, denied, listed)).toBe(verdict);
  });

  test("is allowed to everybody where the config says so, and the session may still ask", () => {
    const full = { security: "full", ask: "off" } as const;
    expect(judgePermission(defaultPermissionPolicy, full, false)).toBe("allow");
    const asking = { ...defaultPermissionPolicy, exec: { ask: "always" } } as const;
    expect(judgePermission(asking, full, false)).toBe("ask");
  });
});
