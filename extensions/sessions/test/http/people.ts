/** A daemon with several people, each with an agent, and a model that answers `ok`. */
import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import type { Script, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel } from '@svc/test/clients/model-kernel';

const ROLES = { alice: 'user', bob: 'user', carol: 'viewer' } as const;
export type Person = keyof typeof ROLES | 'owner';

const keyOf = (name: Person): string => `key-of-${name}-0`;
const person = (name: Exclude<Person, 'owner'>): string => `[[users]]\nname = "${name}"\nrole = "${ROLES[name]}"\napi_key_hash = "sha256:${createHash('sha256').update(keyOf(name)).digest('hex')}"\n`;

export interface Somebody {
  readonly http: TestHttp;
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

export const bootPeople = async (config = '', script: Script | ScriptedAnswer = { text: 'ok' }): Promise<People> => {
  const { kernel, model } = await bootWithModel(script, { config: `api_key = "${keyOf('owner')}"\n${OPEN_RATE}${config}${person('alice')}${person('bob')}${person('carol')}`, key: keyOf('owner') });
  const somebody = async (name: Person): Promise<Somebody> => {
    const http = kernel.as(keyOf(name));
    const { agent_id } = (await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "of-${name}"\n` })).body;
    const [agent] = (await http.expect(200, 'GET', `/api/agents?q=of-${name}`)).body.agents;
    return {
      http,
      agent: { id: agent_id, session_id: agent.session_id },
      say: async (message, session_id) =>
        (await http.expect(200, 'POST', `/api/agents/${agent_id}/message`, { message, ...(session_id === undefined ? {} : { session_id }) })).body.session_id ?? session_id,
    };
  };
  return { kernel, model, owner: kernel.as(keyOf('owner')), carol: kernel.as(keyOf('carol')), alice: await somebody('alice'), bob: await somebody('bob') };
};

/** `[status, code]` of an answer. */
export const refusalOf = ({ status, body }: { status: number; body: { code?: string } }): [number, string | undefined] => [status, body.code];
