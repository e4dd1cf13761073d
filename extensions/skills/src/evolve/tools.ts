/** How an agent proposes a skill, or a change of one. */
import { type AnyTool, defineTool, Type } from '@svc/api';
import { type ProposalRow, SkillsPropose } from '../contract.js';
import type { Assigned } from '../assigned.js';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { Proposals } from './proposals.js';

const Skill = Type.String({ minLength: 1, maxLength: 64, description: 'Name of the skill' });
const Changelog = Type.String({ minLength: 1, maxLength: 500, description: 'What is better now, for the person who decides' });
const Text = (description: string) => Type.String({ minLength: 1, maxLength: 160_000, description });

export interface EvolveDeps {
  readonly proposals: Proposals;
  readonly assigned: Assigned;
  readonly agents: Pick<AgentsService, 'get'>;
}

const said = ({ id, skill, diff, alike }: ProposalRow): string => {
  const others = JSON.parse(alike) as string[];
  return JSON.stringify({ status: 'pending', candidate_id: id, skill, diff, ...(others.length > 0 ? { similar_skills: others } : {}), message: 'A person decides about it. Nothing has changed yet.' });
};

export const evolveTools = ({ proposals, assigned, agents }: EvolveDeps): AnyTool[] => {
  const common = { risk: 'write', openWorld: false, replay: 'never', parallel: false, capabilities: [SkillsPropose.name] } as const;
  const has = async (actor: Parameters<AgentsService['get']>[0], agentId: string, skill: string): Promise<boolean> =>
    agentId === '' || assigned.has((await agents.get(actor, agentId)).manifest, skill) !== undefined;
  const missing = (skill: string) => ({ content: `You have no skill "${skill}".`, isError: true });
  return [
    defineTool({
      name: 'skill_evolve_create',
      description: 'Proposes a new skill of instructions: for what you had to find out and will need again. A person decides about it.',
      params: Type.Object({
        name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$', description: 'Lower-case letters, digits, `_` and `-`' }),
        description: Type.String({ minLength: 1, maxLength: 1_024, pattern: '\\S', description: 'What it does, and when to use it' }),
        prompt_context: Text('The instructions, in Markdown'),
        changelog: Changelog,
      }),
      ...common,
      run: async ({ changelog, ...draft }, { actor, agentId }) => said(await proposals.create(actor, agentId, draft, changelog)),
    }),
    defineTool({
      name: 'skill_evolve_update',
      description: 'Proposes new instructions for one of your skills, in place of all of them. A person decides about it.',
      params: Type.Object({ skill: Skill, prompt_context: Text('The instructions, in Markdown'), changelog: Changelog }),
      ...common,
      run: async ({ skill, prompt_context: body, changelog }, { actor, agentId }) =>
        (await has(actor, agentId, skill)) ? said(await proposals.update(actor, agentId, skill, body, changelog)) : missing(skill),
    }),
    defineTool({
      name: 'skill_evolve_patch',
      description: 'Proposes to replace one text in the instructions of one of your skills. A person decides about it.',
      params: Type.Object({
        skill: Skill,
        old_string: Text('As it stands there, once'),
        new_string: Type.String({ maxLength: 160_000 }),
        replace_all: Type.Optional(Type.Boolean({ description: 'Wherever it stands' })),
        changelog: Changelog,
      }),
      ...common,
      run: async ({ skill, changelog, ...patch }, { actor, agentId }) => ((await has(actor, agentId, skill)) ? said(await proposals.patch(actor, agentId, skill, patch, changelog)) : missing(skill)),
    }),
  ];
};
