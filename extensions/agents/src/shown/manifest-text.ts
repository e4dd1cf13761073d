import type { AgentManifest } from '../contract.js';
import { tomlOf } from '../manifest/manifest-toml.js';
import { shortManifest } from '../manifest/manifest-written.js';

/** Pages ask for the same agent again and again; a manifest that was changed is another object. */
const texts = new WeakMap<AgentManifest, Promise<string>>();

export const shownText = (manifest: AgentManifest): Promise<string> => {
  const known = texts.get(manifest) ?? tomlOf(shortManifest(manifest));
  texts.set(manifest, known);
  return known;
};
