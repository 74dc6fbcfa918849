/**
 * Packages that only one channel needs are not installed with earshot. They are loaded when an
 * account of that channel is opened; a missing one is one line that names package and version.
 */
import { EarshotError } from "../../../domain/errors.ts";

export interface OptionalPackage {
  /** The platform, for the message. */
  readonly platform: string;
  readonly name: string;
  /** A range for npm. */
  readonly version: string;
}

/** Loads a package with `load`. */
export async function loadPackage<Loaded>(
  { platform, name, version }: OptionalPackage,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  try {
    return await load();
  } catch (cause) {
    const isMissing = (cause as { code?: unknown } | null)?.code === "ERR_MODULE_NOT_FOUND";
    throw new EarshotError(
      "EAR_CHANNEL_CONFIG",
      `Cannot connect to ${platform}: the package ${name} ${isMissing ? "is missing" : "is broken"}. ` +
        `Run npm install ${name}@${version}`,
      { cause },
    );
  }
}
