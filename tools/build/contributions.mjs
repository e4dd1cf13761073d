/** Writes contributions.json: the derivation itself is @svc/installer's, which `svc ext build` uses too. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inRoot } from './paths.mjs';

const rootRequire = createRequire(inRoot('package.json'));

export const deriveContributions = async (file, manifest, version, { api, installer }) => {
  const definition = installer.loadBundle(file, manifest, { api, require: rootRequire });
  return installer.deriveContributions(definition, manifest, version);
};

/** Writes the file only when it says something else. True when it was rewritten. */
export const writeIfChanged = (file, value) => {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return false;
  writeFileSync(file, text);
  return true;
};
