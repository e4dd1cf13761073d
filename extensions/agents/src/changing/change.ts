/** A change of a manifest as data: what it would make of one, and which keys it is about. */
import { isTable, tableOf } from '@svc/api';
import { isDeepStrictEqual } from 'node:util';
import type { ManifestPatch } from '../contract.js';
import { agentErrors } from '../errors.js';

type Table = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/** What a manifest becomes, written with the keys of agent.toml. */
export interface Change {
  readonly revision?: number | undefined;
  /** The text that it came from, for the lines of what is wrong with it. */
  readonly source?: string;
  apply(written: Table): Table;
  /** What it is about that differs between two states of the manifest; undefined when nothing does. */
  overlap(before: Table, now: Table): string | undefined;
  /** For the person, beside what the validator says. */
  warnings(written: Table): readonly string[];
}

/** Throws `agents_nothing_to_change`. As a JSON merge patch (RFC 7396): tables are merged, null takes a key away, everything else replaces. */
export const patchOf = (given: ManifestPatch, revision?: number): Change => {
  if (Object.keys(given).length === 0) throw agentErrors.agents_nothing_to_change();
  const patch = atHome(given);
  return {
    revision,
    apply: (written) => unfolding(patch, merged(written, patch)),
    overlap: (before, now) => {
      const wanted = merged(now, patch);
      const path = pathsOf(patch).find((one) => !isDeepStrictEqual(at(before, one), at(now, one)) && !isDeepStrictEqual(at(now, one), at(wanted, one)));
      return path?.join('.');
    },
    warnings: () => [],
  };
};

/** A whole manifest in the place of the old one. What it does not say of name, tags and identity stays; its name renames nobody. */
export const replacementOf = (raw: Table, source: string, revision?: number): Change => ({
  revision,
  source,
  apply: (written) => {
    const tags = raw.tags ?? written.tags;
    const { identity } = tableOf(written.metadata);
    const metadata = isTable(raw.metadata) ? { ...(identity === undefined ? {} : { identity }), ...raw.metadata } : (raw.metadata ?? written.metadata);
    return { ...raw, name: written.name, ...(tags === undefined ? {} : { tags }), ...(metadata === undefined ? {} : { metadata }) };
  },
  overlap: (before, now) => (isDeepStrictEqual(before, now) ? undefined : 'the manifest'),
  warnings: ({ name }) => (raw.name === undefined || raw.name === name ? [] : [`The agent keeps its name, "${String(name)}": PATCH with name renames it.`]),
});

/** Keys that a manifest may say in two places, in the place where `writtenManifest` says them. */
const atHome = (patch: Table): Table => {
  const { model, resources } = patch;
  const moved: Record<string, unknown> = {};
  if (isTable(model) && 'name' in model) {
    const { name, ...rest } = model;
    moved.model = { model: name, ...rest };
  }
  if (isTable(resources) && 'max_llm_tokens_per_hour' in resources) {
    const { max_llm_tokens_per_hour, ...rest } = resources;
    moved.resources = rest;
    moved.capabilities = { max_llm_tokens_per_hour, ...(isTable(patch.capabilities) ? patch.capabilities : {}) };
  }
  return { ...patch, ...moved };
};

/** A profile that is named anew gives its tools, where the change names none itself. */
const unfolding = (patch: Table, after: Table): Table => {
  const names = isTable(patch.capabilities) && 'tools' in patch.capabilities;
  if (!('profile' in patch) || names || !isTable(after.capabilities)) return after;
  const { tools: _old, ...capabilities } = after.capabilities;
  return { ...after, capabilities };
};

const merged = (target: Table, patch: Table): Table => {
  const out = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) out.delete(key);
    else if (isTable(value)) out.set(key, merged(tableOf(out.get(key)), value));
    else out.set(key, value);
  }
  return Object.fromEntries(out);
};

const pathsOf = (patch: Table, above: Path = []): Path[] => Object.entries(patch).flatMap(([key, value]) => (isTable(value) ? pathsOf(value, [...above, key]) : [[...above, key]]));

const at = (table: Table, path: Path): unknown => path.reduce<unknown>((value, key) => (isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined), table);
