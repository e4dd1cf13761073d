/** The contract suite for an extension in a folder. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as inside from '../contract-suite.js';
import { bundleOf, codeIn, thirdPartyIn } from './installed-folder.js';

export interface ContractOptions {
  /** More text of config.toml, such as a section of the extension's own. */
  readonly config?: string;
  /** What the daemon finds in its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Tables whose rows of an agent outlive it, because they are its owner's books. */
  readonly keeps?: readonly string[];
}

/** Declares the suite for the built extension in `folder` (mocha's `describe` and `it`). Throws when it was not built. */
export function describeExtension(folder: string, { config, env, keeps }: ContractOptions = {}): void {
  const dir = resolve(folder);
  const { id } = JSON.parse(readFileSync(join(dir, 'extension.json'), 'utf8')) as { id: string };
  inside.describeExtension(id, {
    bundle: bundleOf(dir),
    thirdParties: async () => [await thirdPartyIn(dir)],
    load: () => codeIn(dir),
    boot: { ...(env ? { env } : {}) },
    ...(config === undefined ? {} : { config }),
    ...(keeps ? { keeps } : {}),
  });
}
