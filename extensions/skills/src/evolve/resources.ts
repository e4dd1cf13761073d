/** Changes of skills over HTTP, on the command line and on the page. */
import { type ActionSpecs, defineResource, OneOf, Type } from '@svc/api';
import { skillErrors } from '../errors.js';

const MAX_PROMPT = 160_000;
const Changelog = Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', description: 'What is better now' });
const Hash = Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The `content_hash` of a version' }));

export const Evolved = Type.Object(
  { success: Type.Literal(true), message: Type.String(), skill_name: Type.String(), version: Type.String(), evolution_count: Type.Integer(), use_count: Type.Integer() },
  { 'x-name': 'SkillEvolution' },
);
const admin = { permission: 'skills.admin', answer: Evolved, cost: 10, auditCategory: 'settings' } as const;

/** Of one skill. */
export const EVOLVE_ACTIONS = {
  rewrite: {
    id: 'updateSkill',
    path: '/evolve/update',
    summary: 'Rewrite the instructions of a skill',
    description: 'New instructions, as a new version; front matter and other files stay. The last 10 versions are stored. For owners and admins.',
    body: Type.Object(
      { prompt_context: Type.String({ minLength: 1, maxLength: MAX_PROMPT, pattern: '\\S', description: 'The instructions, in Markdown' }), changelog: Changelog },
      { additionalProperties: false },
    ),
    errors: [403, 409],
    ...admin,
    audit: 'skill_updated',
    examples: {
      'a step more': { prompt_context: '1. Read the commits.\n2. Group them.\n3. Write.', changelog: 'A step for groups.' },
      shorter: { prompt_context: 'Write one line for each commit.', changelog: 'Shorter.' },
      'another language': { prompt_context: '写简短的句子。', changelog: 'In Chinese.' },
    },
    done: { en: '{message}', zh: '已更新 {skill_name}。' },
    command: { args: ['name', 'prompt_context', 'changelog'] },
  },
  patch: {
    id: 'patchSkill',
    path: '/evolve/patch',
    summary: 'Replace a text in the instructions of a skill',
    description: 'The old text must stand there once, or `replace_all` is sent. For owners and admins.',
    body: Type.Object(
      {
        old_string: Type.String({ minLength: 1, maxLength: MAX_PROMPT }),
        new_string: Type.String({ maxLength: MAX_PROMPT }),
        replace_all: Type.Optional(Type.Boolean({ default: false })),
        changelog: Changelog,
      },
      { additionalProperties: false },
    ),
    errors: [403, 409],
    ...admin,
    audit: 'skill_patched',
    examples: {
      'a word': { old_string: 'ahoy', new_string: 'hello', changelog: 'Friendlier.' },
      everywhere: { old_string: 'colour', new_string: 'color', replace_all: true, changelog: 'American spelling.' },
      'a line less': { old_string: '3. Send it.\n', new_string: '', changelog: 'It is not sent any more.' },
    },
    done: { en: '{message}', zh: '已修改 {skill_name}。' },
    command: { args: ['name', 'old_string', 'new_string', 'changelog'] },
  },
  rollback: {
    id: 'rollbackSkill',
    path: '/evolve/rollback',
    summary: 'Go back to the version before',
    description: 'The version that counts is deleted, and the one before it counts. For owners and admins.',
    errors: [403, 409],
    ...admin,
    audit: 'skill_rolled_back',
    done: { en: '{message}', zh: '已回退 {skill_name}。' },
    button: { label: { en: 'Roll back', zh: '回退' }, icon: 'rotate-ccw' },
    command: { confirm: 'Go back to the version before? The version that counts now is deleted.' },
  },
  diff: {
    method: 'GET',
    id: 'getSkillDiff',
    path: '/evolve/diff',
    summary: 'Show what differs between two versions',
    description: 'Of the stored versions, in the form of `diff -u`. Without `from` it begins with the version before, without `to` it ends with the files as they are now.',
    query: Type.Object({ from: Hash, to: Hash }),
    answer: Type.Object({ name: Type.String(), diff: Type.String({ description: 'Empty where nothing differs' }) }, { 'x-name': 'SkillDiff' }),
    errors: [409],
    command: { output: { kind: 'line', text: '{diff}' } },
  },
} as const satisfies ActionSpecs;

const Proposal = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    skill: Type.String(),
    kind: OneOf(['create', 'update']),
    agent_id: Type.String(),
    changelog: Type.String({ description: 'What its agent says is better' }),
    diff: Type.String(),
    similar_skills: Type.Array(Type.String(), { description: 'Skills whose description says nearly the same' }),
    captured_at: Type.String({ format: 'date-time' }),
  },
  { 'x-name': 'SkillProposal' },
);
const Decided = (status: 'approved' | 'rejected') => ({ status: Type.Literal(status), candidate_id: Type.String(), skill_name: Type.String() });

export const SkillProposals = defineResource({
  area: 'skills',
  one: 'skill proposal',
  path: '/api/skills/pending',
  key: { name: 'id', schema: Type.String({ format: 'uuid', description: 'Id of the proposal' }) },
  item: Proposal,
  operations: {
    list: {
      summary: 'List proposals for skills',
      description: 'New skills and changes that agents propose, the newest first. Nothing of them has taken effect. For owners and admins.',
      permission: 'skills.admin',
    },
  },
  list: { as: ['candidates'], sort: ['captured_at', 'skill'], order: 'desc' },
  columns: [{ field: 'skill', below: 'changelog' }, { field: 'kind' }, { field: 'captured_at', format: 'ago' }, { field: 'diff', format: 'diff' }],
  verbs: { list: 'proposals' },
  actions: {
    approve: {
      id: 'approveSkillProposal',
      summary: 'Approve a proposal for a skill',
      description: 'It takes effect from the next message. It is scanned as any skill is, and its text counts as text from outside. For owners and admins.',
      permission: 'skills.admin',
      isBlind: true,
      answer: Type.Object({ ...Decided('approved'), version: Type.String(), message: Type.String() }),
      errors: [400, 403, 409],
      cost: 10,
      audit: 'skill_proposal_approved',
      auditCategory: 'settings',
      done: { en: '{message}', zh: '已批准 {skill_name}。' },
      button: { label: { en: 'Approve', zh: '批准' }, icon: 'check' },
      command: { confirm: 'Approve this proposal? `svc skills proposals --json` shows its diff.' },
    },
    reject: {
      id: 'rejectSkillProposal',
      summary: 'Reject a proposal for a skill',
      description: 'It is deleted. For owners and admins.',
      permission: 'skills.admin',
      isBlind: true,
      answer: Type.Object(Decided('rejected')),
      errors: [403],
      audit: 'skill_proposal_rejected',
      auditCategory: 'settings',
      done: { en: 'Rejected the proposal for {skill_name}.', zh: '已拒绝对 {skill_name} 的提议。' },
      button: { label: { en: 'Reject', zh: '拒绝' }, icon: 'x' },
    },
  },
  words: {
    title: { en: 'Proposed skills', zh: '提议的技能' },
    one: { en: 'proposal', zh: '提议' },
    note: { en: 'New skills and changes that agents propose. Nothing takes effect before you approve it.', zh: '智能体提议的新技能和修改。批准之前不会生效。' },
    empty: { en: 'No proposals. Agents with the capability skills_propose make them.', zh: '没有提议。拥有 skills_propose 权限的智能体可以提出。' },
    fields: {
      skill: { label: { en: 'Skill', zh: '技能' } },
      kind: { label: { en: 'Kind', zh: '类型' }, values: { create: { en: 'new', zh: '新建' }, update: { en: 'change', zh: '修改' } } },
      changelog: { label: { en: 'What is better', zh: '改进之处' } },
      captured_at: { label: { en: 'Proposed', zh: '提议时间' } },
      diff: { label: { en: 'Change', zh: '变更' } },
    },
  },
  missing: skillErrors.proposal_not_found,
});
