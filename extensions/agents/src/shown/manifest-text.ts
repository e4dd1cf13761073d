import type { AtOnce } from '@svc/api';
import type { AgentManifest } from '../contract.js';
import { tomlOf } from '../manifest/manifest-toml.js';
import { shortManifest } from '../manifest/manifest-written.js';

/** Pages ask for the same agent again and again; a manifest that was changed is another object. */
const texts = new WeakMap<AgentManifest, AtOnce<string>>();

export const shownText = (manifest: AgentManifest): AtOnce<string> => {
  const known = texts.get(manifest);
  if (known !== undefined) return known;
  const written = tomlOf(shortManifest(manifest)).then((text) => {
    texts.set(manifest, text);
    return text;
  });
  texts.set(manifest, written);
  return written;
};
