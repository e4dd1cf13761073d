/**
 * Agents of the source.
 *
 * A1  An agent has an id that follows from the source: a second run finds it.
 * A2  It has what the role of its new owner may grant. What goes beyond is left out, and named.
 * A3  Its name is text: it becomes neither a path nor TOML.
 */
import { createHash } from 'node:crypto';
import { isSvcError, uuidOfDigest } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { type SourceAgent, type Table, tableOf } from '../sources/model.js';
import { chosen, type Import, itemOf, KNOWN, NOT_CHOSEN, settle } from './context.js';

const MAX_NAME = 100;
const MAX_NAMES = 50;
const MAX_LOWERED = 200;
/** As the policy of grants says which one is beyond the role: `[capabilities] shell = "cat *" needs`. */
const BEYOND = /\[capabilities\] ([a-z_]+) = (.+?) needs the permission/;

export const importAgents = async (run: Import): Promise<void> => {
  const done = await run.store.done(run.id, 'Agent');
  const known = await run.store.items(run.actor.ownerId, run.source.type, 'Agent');
  for (const agent of run.source.agents) {
    run.alive();
    const key = keyOf(run, agent);
    const item = known.get(key);
    const there = item && (await run.agents.find(run.actor, item.target));
    if (there) run.targets.set(agent.key, targetOf(there));
    if (done.has(key)) continue;
    await importAgent(run, agent, key, there);
  }
};

/** Of two homes, agents of one name are two. */
const keyOf = ({ source }: Import, agent: SourceAgent): string => `${source.dir.path}#${agent.key}`;

const targetOf = ({ id, name, createdAt }: Agent): Import['targets'] extends Map<string, infer T> ? T : never => ({ id, name, createdAt });

const importAgent = async (run: Import, agent: SourceAgent, key: string, there: Agent | undefined): Promise<void> => {
  const skip = (detail: string): Promise<void> => settle(run, [{ kind: 'Agent', key, name: agent.name, imported: false, detail }]);
  if (there) return skip(`${KNOWN}: ${there.name}`);
  if (run.options.import_agents === false || !chosen(run, agent.name)) return skip(NOT_CHOSEN);
  if (run.isDry) {
    run.targets.set(agent.key, { id: '', name: agent.name, createdAt: '' });
    return settle(run, [{ kind: 'Agent', key, name: agent.name, imported: true, detail: `agent ${nameOf(agent.name)}` }]);
  }
  try {
    const made = await spawn(run, agent, key);
    run.targets.set(agent.key, targetOf(made));
    await settle(run, [{ kind: 'Agent', key, name: agent.name, imported: true, detail: `agent ${made.name}` }], [itemOf(run, 'Agent', key, { agent_id: made.id, target: made.id })]);
  } catch (error) {
    if (!isSvcError(error) || error.status >= 500) throw error;
    await skip(error.message);
  }
};

/** A3. */
export const nameOf = (name: string): string => {
  const plain = name
    .normalize('NFC')
    .replace(/[\p{C}\p{Zl}\p{Zp}/\\]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^_operator:/, '')
    .slice(0, MAX_NAME);
  return plain === '' ? 'imported agent' : plain;
};

const spawn = async (run: Import, agent: SourceAgent, key: string): Promise<Agent> => {
  const hex = createHash('sha256')
    .update(JSON.stringify([run.actor.ownerId, run.source.type, key]))
    .digest('hex');
  const id = uuidOfDigest(hex);
  // It was made, and the daemon died before that was noted.
  const found = await run.agents.find(run.actor, id);
  if (found) return found;
  const base = nameOf(agent.name);
  let manifest = await usableManifest(run, agent);
  let isReduced = false;
  for (let number = 1, lowered = 0; ; ) {
    const name = number === 1 ? base : `${base.slice(0, MAX_NAME - 4)}-${number}`;
    try {
      return await run.agents.spawn(run.actor, { manifest, name, id });
    } catch (error) {
      if (!isSvcError(error)) throw error;
      if (error.code === 'agent_already_exists' && number < MAX_NAMES) number += 1;
      else if (error.code === 'agents_spawn_denied' && lowered++ < MAX_LOWERED) manifest = lowerManifest(run, agent.name, manifest, error.message);
      else if (error.code === 'agents_invalid_manifest' && !isReduced) {
        isReduced = true;
        run.warn(`Agent ${agent.name}: only its model, prompt and capabilities were taken over; of its manifest svc says: ${error.message}`);
        manifest = reducedManifest(manifest);
      } else throw error;
    }
  }
};

/** A2. */
const lowerManifest = (run: Import, name: string, manifest: Table, message: string): Table => {
  const [, capability = '', value = ''] = BEYOND.exec(message) ?? [];
  const capabilities = { ...tableOf(manifest.capabilities) };
  const written = capabilities[capability];
  const wanted = value.replace(/^"|"$/g, '');
  run.warn(`Agent ${name}: the capability ${capability || 'of all kinds'}${value === '' ? '' : ` = ${value}`} was left out, because the role of its owner may not grant it.`);
  if (Array.isArray(written) && written.includes(wanted)) capabilities[capability] = written.filter((one) => one !== wanted);
  else if (capability === 'file_system') capabilities.file_system = false;
  else if (capability in capabilities) delete capabilities[capability];
  // Whatever else gives it, such as a profile, goes as a whole.
  else return { ...reducedManifest(manifest), capabilities: { file_system: false } };
  return { ...manifest, capabilities };
};

const reducedManifest = (manifest: Table): Table => {
  const { provider, model, system_prompt: prompt, max_tokens: tokens } = tableOf(manifest.model);
  const { tools, network, memory_read: reads, memory_write: writes, shell, agent_spawn: spawns, agent_message: messages } = tableOf(manifest.capabilities);
  return JSON.parse(
    JSON.stringify({
      ...(typeof manifest.description === 'string' ? { description: manifest.description } : {}),
      model: { provider, model, system_prompt: typeof prompt === 'string' ? prompt.slice(0, 65_000) : undefined, max_tokens: tokens },
      capabilities: { tools, network, memory_read: reads, memory_write: writes, shell, agent_spawn: spawns, agent_message: messages },
    }),
  ) as Table;
};

/** A model whose provider is not here is the daemon's default one. */
const usableManifest = async (run: Import, agent: SourceAgent): Promise<Table> => {
  const { provider } = agent;
  const written = tableOf(agent.manifest.model);
  const isKnown = provider !== null && (await run.providers.value?.get(provider)) !== undefined;
  if (provider !== null && provider !== 'default' && !isKnown) run.warn(`Agent ${agent.name}: the provider ${provider} is not here, so the agent uses the default model.`);
  const model = provider !== null && isKnown && agent.model !== null ? { ...written, provider, model: agent.model } : { ...written, provider: 'default', model: 'default' };
  const { name: _name, api_key_env: _key, base_url: _url, ...plain } = model as Record<string, unknown>;
  return { ...agent.manifest, ...(agent.description === '' ? {} : { description: agent.description }), model: plain };
};
