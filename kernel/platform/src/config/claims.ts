/** What all claims say together: settings that areas add to a section of the platform, and older spellings. */
import type { JsonSchema } from '@svc/api';
import { kernelSections, type SectionClaims } from './kernel-sections.js';

/** An older spelling on the top level → the setting that it means, as `[section, key]`. */
export type Aliases = Readonly<Record<string, readonly string[]>>;

/** The platform's sections and those of the areas; a claim of `api.rate_limit_per_second` becomes a key of `[api]`. */
export const allClaims = (ofAreas: SectionClaims): SectionClaims => {
  const claims: Record<string, SectionClaims[string]> = {};
  for (const [name, claim] of Object.entries(ofAreas)) if (!isSetting(name)) claims[name] = claim;
  Object.assign(claims, kernelSections);
  for (const [name, { isForeign = false, schema }] of Object.entries(ofAreas)) {
    const [section = '', key] = name.split('.');
    const around = kernelSections[section];
    if (key === undefined || around === undefined) continue;
    const whole = schemaOf(claims[section]);
    claims[section] = { ...around, isForeign: isForeign || claims[section]?.isForeign === true, schema: { ...whole, properties: { ...whole.properties, [key]: schema } } };
  }
  return claims;
};

const isSetting = (name: string): boolean => name.includes('.');

/** Each setting names its older spellings in its schema (`x-alias`). */
export const aliasesOf = (claims: SectionClaims): Aliases => {
  const aliases: Record<string, readonly string[]> = {};
  for (const [section, claim] of Object.entries(claims))
    for (const [key, part] of Object.entries(schemaOf(claim).properties ?? {})) for (const alias of part['x-alias'] ?? []) aliases[alias] = [section, key];
  return aliases;
};

export const schemaOf = (claim: SectionClaims[string] | undefined): JsonSchema => claim?.schema ?? {};
