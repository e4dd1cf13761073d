/** `svc agent show`: one agent on one screen. */
import { type Cli, EXIT, type Outcome, agoText, facts, printable } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { findAgent } from './agent-lookup.js';

type Agent = OutputOf<'getAgent'>;
type Fact = [label: string, value: string];

const MAX_PROMPT_CHARS = 200;

export const show = async (cli: Cli, wanted: string, isToml: boolean): Outcome => {
  const daemon = await cli.daemon();
  const { id } = await findAgent(daemon, wanted);
  const agent = await daemon.call('getAgent', { id });
  if (cli.json) cli.out.json(isToml ? { agent_id: agent.id, revision: agent.revision, manifest_toml: agent.manifest_toml } : agent);
  // As it is, for a file; what an agent's maker wrote could otherwise move the cursor of a person who looks.
  else if (isToml) cli.out.write(cli.out.isTty ? printable(agent.manifest_toml) : agent.manifest_toml);
  else {
    cli.out.line(cli.out.bold(printable(agent.name)));
    for (const line of facts(factsOf(agent, Date.now()), cli.out.width, (text, label) => (label === 'id' || label === 'made' ? cli.out.dim(text) : text))) cli.out.line(line);
  }
  return EXIT.ok;
};

const factsOf = (agent: Agent, now: number): Fact[] => [
  ...fact('what', agent.description),
  ['id', agent.id],
  ['state', `${agent.state}, mode ${agent.mode}${agent.ready ? '' : ': it cannot answer now'}`],
  ...modelFacts(agent),
  ...fact('prompt', short(agent.system_prompt)),
  ...fact('tags', agent.tags.join(', ')),
  ...grantFacts(agent),
  ...costFacts(agent),
  ['runs', agent.last_active === null ? 'none yet' : `the last started ${agoText(agent.last_active, now)}`],
  ...fact('sessions', agent.session_count === null ? '' : `${agent.session_count}${agent.sessions_24h ? `, ${agent.sessions_24h} of them within a day` : ''}`),
  ...fact('parent', agent.parent_agent_id ?? ''),
  ...fact('children', agent.children.join(', ')),
  ['made', `${agent.created_at}, revision ${agent.revision}`],
];

const fact = (label: string, value: string): Fact[] => (value === '' ? [] : [[label, printable(value)]]);

const short = (text: string): string => {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > MAX_PROMPT_CHARS ? `${flat.slice(0, MAX_PROMPT_CHARS)}…` : flat;
};

const modelFacts = ({ fallback_models, model, pinned_model }: Agent): Fact[] => {
  const asked = `${model.asked.provider} / ${model.asked.model}`;
  const now = `${model.provider} / ${model.model}`;
  return [
    ['model', asked === now ? now : `${now}   (the manifest says ${asked})`],
    ...fact('pinned', pinned_model ?? ''),
    ...fact('else', fallback_models.map((one) => `${one.provider} / ${one.model}`).join(', ')),
    ['answers', `temperature ${model.temperature}, at most ${model.max_tokens} tokens`],
  ];
};

const grantFacts = ({ capabilities, tool_allowlist, tool_blocklist, tools_disabled }: Agent): Fact[] => [
  ['tools', tools_disabled ? 'none (tools_disabled)' : capabilities.tools.length === 0 ? 'all that need no grant' : capabilities.tools.join(', ')],
  ...fact('only', tool_allowlist.join(', ')),
  ...fact('never', tool_blocklist.join(', ')),
  ...fact('network', capabilities.network.join(', ')),
  ...fact('shell', capabilities.shell.join(', ')),
  ...fact('agents', [...(capabilities.agent_spawn ? ['may spawn'] : []), ...(capabilities.agent_message.length > 0 ? [`may write to ${capabilities.agent_message.join(', ')}`] : [])].join('; ')),
];

const costFacts = ({ cost_24h, resources }: Agent): Fact[] => {
  const limits = [
    [resources.max_cost_per_hour_usd, 'an hour'],
    [resources.max_cost_per_day_usd, 'a day'],
    [resources.max_cost_per_month_usd, 'a month'],
  ] as const;
  const said = limits.flatMap(([usd, per]) => (usd > 0 ? [`${usd} USD ${per}`] : []));
  return [...fact('cost', cost_24h === null ? '' : `${cost_24h.toFixed(4)} USD within a day`), ...fact('at most', said.join(', '))];
};
