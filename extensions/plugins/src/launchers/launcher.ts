/** What each of the eleven languages needs to be found, started, compiled and scaffolded. */
export const RUNTIMES = ['python', 'native', 'v', 'node', 'deno', 'go', 'ruby', 'bash', 'bun', 'php', 'lua'] as const;
export type Runtime = (typeof RUNTIMES)[number];

export interface Launcher {
  readonly runtime: Runtime;
  /** Other names of it. */
  readonly aliases: readonly string[];
  /** Programs that are looked for, the best first. None where the script starts itself. */
  readonly programs: readonly string[];
  /** Before the script. */
  readonly args: readonly string[];
  readonly versionArgs: readonly string[];
  /** Of scripts, with its dot. */
  readonly extension: string;
  /** How to get it. */
  readonly hint: string;
  /** Prints the program as it really is, then the folders that it needs, one a line. A program on PATH may only point to it. */
  readonly placeArgs?: readonly string[];
  /** Its library stands beside the program. */
  readonly needsFolder?: boolean;
  /** Its variables. `cache` is the folder of the plugin that it may write to. */
  env?(cache: string): Readonly<Record<string, string>>;
  /** Fills the cache of a language that compiles: the first start is as fast as the next. */
  compile?(script: string, cache: string): readonly string[];
  /** How what the plugin needs is installed. */
  readonly dependencies?: { readonly file: string; readonly program: string; args(cache: string): readonly string[] };
  readonly scaffold: { readonly ingest: string; readonly after_turn: string; readonly comment: string };
}
