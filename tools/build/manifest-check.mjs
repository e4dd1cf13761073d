/** Judges extension.json before any code of the extension runs. */
import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
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

/** What the list of grants says of itself is clearer than that a pattern does not match. */
const isOfGrant = (error) => error.keyword === 'pattern' && /^\/grants\/\d+\/grant$/.test(error.instancePath);

/** `api.grantFaults` judges the grants for the daemon too. */
const grantReasons = (manifest, api) => (Array.isArray(manifest.grants) ? api.grantFaults({ ...manifest, grants: manifest.grants.filter((one) => typeof one?.grant === 'string') }) : []);

/** The manifest, or an error that names the file and every reason. */
export const checkedManifest = (target, validate, api) => {
  const file = `${target.dir}/extension.json`;
  let manifest;
  try {
    manifest = JSON.parse(readFileSync(inRoot(file), 'utf8'));
  } catch (error) {
    throw new Error(`${file} is not JSON: ${error.message}`);
  }
  const reasons = validate(manifest) ? [] : validate.errors.filter((error) => !isOfGrant(error)).map(sentence);
  reasons.push(...grantReasons(manifest, api).map((fault) => `/grants: ${fault}`));
  if (manifest.id !== target.id) reasons.push(`/id is "${manifest.id}", the folder is "${target.id}"`);
  for (const [name, source] of Object.entries(workerSources(target, manifest))) if (!existsSync(inRoot(source))) reasons.push(`/workers/${name} needs ${source}, which is not there`);
  if (reasons.length) throw new Error(reasons.map((reason) => `${file} ${reason}`).join('\n'));
  return manifest;
};
