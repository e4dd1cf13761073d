/** Validates extension.json before any code of the extension runs. */
import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { panelSource } from './browser.mjs';
import { workerSources } from './bundler.mjs';
import { inRoot } from './paths.mjs';

const sentence = (error) => {
  const at = error.instancePath || '/';
  if (error.keyword === 'additionalProperties') return `${at} has the unknown field "${error.params.additionalProperty}"`;
  if (error.keyword === 'const') return `${at} must be ${JSON.stringify(error.params.allowedValue)}`;
  return `${at} ${error.message}`;
};

/** One compiled validator for all manifests. */
export const manifestValidator = (schema) => new Ajv({ allErrors: true, strict: false }).compile(schema);

/** What a list says of itself is clearer than that a pattern does not match. */
const isOfList = (error) => error.keyword === 'pattern' && /^\/(grants\/\d+\/grant|capabilities\/\d+)$/.test(error.instancePath);

/** `rules.grantFaults` validates the grants for the daemon too. */
const grantReasons = (manifest, rules) => (Array.isArray(manifest.grants) ? rules.grantFaults({ ...manifest, grants: manifest.grants.filter((one) => typeof one?.grant === 'string') }) : []);

const capabilityReasons = ({ capabilities }, rules) =>
  (Array.isArray(capabilities) ? capabilities : [])
    .filter((name) => typeof name === 'string' && rules.capabilityNameFault(name) !== undefined)
    .map((name) => `/capabilities: ${JSON.stringify(name)} ${rules.capabilityNameFault(name)}`);

/** The manifest, or an error that names the file and every reason. */
export const checkedManifest = (target, validate, rules) => {
  const file = `${target.dir}/extension.json`;
  let manifest;
  try {
    manifest = JSON.parse(readFileSync(inRoot(file), 'utf8'));
  } catch (error) {
    throw new Error(`${file} is not JSON: ${error.message}`);
  }
  const reasons = validate(manifest) ? [] : validate.errors.filter((error) => !isOfList(error)).map(sentence);
  reasons.push(...grantReasons(manifest, rules).map((fault) => `/grants: ${fault}`), ...capabilityReasons(manifest, rules));
  if (manifest.id !== target.id) reasons.push(`/id is "${manifest.id}", the folder is "${target.id}"`);
  for (const [name, source] of Object.entries(workerSources(target, manifest))) if (!existsSync(inRoot(source))) reasons.push(`/workers/${name} needs ${source}, which is not there`);
  for (const panel of manifest.panels ?? [])
    if (panel.collection === undefined && !existsSync(inRoot(panelSource(target, panel)))) reasons.push(`/panels: "${panel.id}" needs ${panelSource(target, panel)}, which is not there`);
  if (reasons.length) throw new Error(reasons.map((reason) => `${file} ${reason}`).join('\n'));
  return manifest;
};
