/** A daemon with several people, each with an agent, and a model that answers `ok`. */
import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import type { Script, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

const ROLES = { alice: 'user', bob: 'user', carol: 'viewer' } as const;
export type Person = keyof typeof ROLES | 'owner';

const keyOf = (name: Person, group = 0): string => `key-of-${name}-${group}`;
const nameOf = (name: Person, group: number): string => `${name}${group === 0 ? '' : group}`;
const person = (name: Exclude<Person, 'owner'>, group: number): string =>
  `[[users]]\nname = "${nameOf(name, group)}"\nrole = "${ROLES[name]}"\napi_key_hash = "sha256:${createHash('sha256').update(keyOf(name, group)).digest('hex')}"\n`;

export interface Somebody {
  readonly http: TestHttp;
  /** Whose rows theirs are. */
  readonly ownerId: string;
  readonly agent: { readonly id: string; readonly session_id: string };
  /** Says it in the current session, or in the one that is named. */
  say(message: string, sessionId?: string): Promise<string>;
}

export interface People extends Pick<ModelKernel, 'kernel' | 'model'> {
  readonly alice: Somebody;
  readonly bob: Somebody;
  readonly owner: TestHttp;
  readonly carol: TestHttp;
}

export const UNKNOWN = '99999999-9999-4999-8999-999999999999';

const ANSWERS_OK = { text: 'ok' };

export const bootPeople = async (config = '', script: Script | ScriptedAnswer = ANSWERS_OK): Promise<People> => groupOf(await bootGroups(1, config, script), 0);

const bootGroups = (count: number, config: string, script: Script | ScriptedAnswer): Promise<ModelKernel> => {
  const people = Array.from({ length: count }, (_, group) => person('alice', group) + person('bob', group) + person('carol', group));
  return bootWithModel(script, { config: `api_key = "${keyOf('owner')}"\n${OPEN_RATE}${config}${people.join('')}`, key: keyOf('owner') });
};

const groupOf = async ({ kernel, model }: ModelKernel, group: number): Promise<People> => {
  const somebody = async (name: Person): Promise<Somebody> => {
    const http = kernel.as(keyOf(name, group));
    const { agent_id } = (await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "of-${name}"\n` })).body;
    const [agent] = (await http.expect(200, 'GET', `/api/agents?q=of-${name}`)).body.agents;
    return {
      http,
      ownerId: `user:${nameOf(name, group)}`,
      agent: { id: agent_id, session_id: agent.session_id },
      say: async (message, session_id) =>
        (await http.expect(200, 'POST', `/api/agents/${agent_id}/message`, { message, ...(session_id === undefined ? {} : { session_id }) })).body.session_id ?? session_id,
    };
  };
  return { kernel, model, owner: kernel.as(keyOf('owner')), carol: kernel.as(keyOf('carol', group)), alice: await somebody('alice'), bob: await somebody('bob') };
};

const MOST_CLAIMS = 24;

/** One daemon for the claims of a suite: each has people who were never there, and those of the claim before are purged. Call it in `describe`. */
export const peopleOfSuite = (): (() => Promise<People>) => {
  let svc: ModelKernel;
  let group = 0;
  let last: People | undefined;
  before(async () => {
    svc = await bootGroups(MOST_CLAIMS, '', ANSWERS_OK);
  });
  after(stopModelKernels);
  afterEach(async () => {
    for (const { ownerId } of last === undefined ? [] : [last.alice, last.bob]) expect(await svc.kernel.daemon.parts.purges.purge({ ownerId })).to.include({ complete: true });
    last = undefined;
  });
  return async () => {
    if (group >= MOST_CLAIMS) throw new Error(`there are people for ${MOST_CLAIMS} claims`);
    svc.model.script(ANSWERS_OK);
    last = await groupOf(svc, group++);
    return last;
  };
};

/** `[status, code]` of an answer. */
export const refusalOf = ({ status, body }: { status: number; body: { code?: string } }): [number, string | undefined] => [status, body.code];
