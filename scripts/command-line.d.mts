import type { ParseArgsConfig, parseArgs } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>["values"];

export declare function commandLine<T extends Options, Asked = Values<T>>(asked: {
  readonly name: string;
  readonly help: string;
  readonly docs: string;
  readonly options?: T;
  readonly allowPositionals?: boolean;
  readonly check?: (values: Values<T>, positionals: readonly string[]) => Asked | Promise<Asked>;
  readonly run: (asked: Asked) => Promise<boolean>;
}): Promise<void>;
