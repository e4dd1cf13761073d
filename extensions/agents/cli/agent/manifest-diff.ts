/** What a manifest would change of an agent: both written in one way, so that order, comments and what holds anyway are no difference. */
import { isDeepStrictEqual } from 'node:util';
import { isTable } from '@svc/api';
import type { OutputOf } from '@svc/client';
import { unifiedDiff } from './text-diff.js';
import { parsedManifest, type Table } from './manifest-file.js';

type Agent = OutputOf<'getAgent'>;

/** Keys with one possible value, which the daemon does not show. */
const ALWAYS: Table = { module: 'builtin:chat' };

/** Empty where the agent is so already. */
export const manifestDiff = async (agent: Agent, file: Table): Promise<string> => {
  const before = await parsedManifest(agent.manifest_toml, agent.name);
  const after = kept(before, withoutUsual(withAlways(file, before), before, { ...ALWAYS, ...agent }));
  const { default: toml } = await import('@iarna/toml');
  const written = (table: Table): string => toml.stringify(JSON.parse(JSON.stringify(inOrderOf(table, before))));
  return unifiedDiff(written(before), written(after), [`${agent.name} (current)`, `${agent.name} (new)`]);
};

/** What the daemon writes where a manifest says nothing; where it is another one day, the difference shows it. */
const USUAL_PROMPT = 'You are a helpful assistant. Be accurate, be brief, and say so when you do not know.';

/** What the agent's own manifest says in any case, said in the file as well where it is silent. */
const SAID_ALWAYS: Readonly<Record<string, Table>> = { model: { provider: 'default', model: 'default', system_prompt: USUAL_PROMPT }, capabilities: { tools: [] } };

const withAlways = (file: Table, before: Table): Table => {
  const sections = Object.entries(SAID_ALWAYS).map(([section, usual]): [string, unknown] => {
    const [own, shown] = [file[section], before[section]];
    if ((own !== undefined && !isTable(own)) || !isTable(shown)) return [section, own];
    // A model has two names for its name.
    const { name, ...said }: Table = own ?? {};
    const spoken = section === 'model' && name !== undefined ? { model: name, ...said } : (own ?? {});
    const silent = Object.entries(usual).filter(([key]) => Object.hasOwn(shown, key));
    return [section, { ...Object.fromEntries(silent), ...spoken }];
  });
  return { ...file, ...Object.fromEntries(sections.filter(([, value]) => value !== undefined)) };
};

/** As the daemon takes a whole manifest: the name stays, and so do tags and looks that the text does not say anew. */
const kept = (before: Table, file: Table): Table => {
  const identity = isTable(before.metadata) ? before.metadata.identity : undefined;
  const metadata = isTable(file.metadata) ? { ...(identity === undefined ? {} : { identity }), ...file.metadata } : (file.metadata ?? before.metadata);
  const tags = file.tags ?? before.tags;
  return { ...file, name: before.name, ...(tags === undefined ? {} : { tags }), ...(metadata === undefined ? {} : { metadata }) };
};

/** Without keys that the agent's own manifest leaves out because what they say holds anyway: `shown` has its value. */
const withoutUsual = (file: Table, before: Table, shown: Table): Table =>
  Object.fromEntries(
    Object.entries(file).flatMap(([key, value]): Array<[string, unknown]> => {
      const [own, holds] = [before[key], shown[key]];
      if (isTable(value) && (own === undefined || isTable(own))) {
        const inner = withoutUsual(value, isTable(own) ? own : {}, isTable(holds) ? holds : {});
        return Object.keys(inner).length === 0 && own === undefined ? [] : [[key, inner]];
      }
      return own === undefined && holds !== undefined && isDeepStrictEqual(plain(value), plain(holds)) ? [] : [[key, value]];
    }),
  );

/** Tables of the parser have no prototype, which is no difference. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Keys of `model` first, in its order, then the others in theirs. */
const inOrderOf = (table: Table, model: Table): Table => {
  const keys = [...Object.keys(model).filter((key) => Object.hasOwn(table, key)), ...Object.keys(table).filter((key) => !Object.hasOwn(model, key))];
  return Object.fromEntries(
    keys.map((key) => {
      const [value, like] = [table[key], model[key]];
      return [key, isTable(value) ? inOrderOf(value, isTable(like) ? like : {}) : value];
    }),
  );
};
