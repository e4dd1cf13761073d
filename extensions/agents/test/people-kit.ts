/** A daemon with an owner, an admin, two users and a viewer, whose model is a server of this process. */
import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel } from '@svc/test/clients/model-kernel';
import type { Script, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';

const KEYS = { owner: 'root-key-0', adam: 'adam-key-1', alice: 'alice-key-2', bob: 'bob-key-3', vera: 'vera-key-4' };
const ROLES = { adam: 'admin', alice: 'user', bob: 'user', vera: 'viewer' } as const;

const person = (name: keyof typeof ROLES): string => `[[users]]\nname = "${name}"\nrole = "${ROLES[name]}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

export const bootWithPeople = async (script?: Script | ScriptedAnswer | readonly ScriptedAnswer[]) => {
  const users = (Object.keys(ROLES) as Array<keyof typeof ROLES>).map(person).join('');
  const { kernel, model, agent } = await bootWithModel(script, { config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${users}`, key: KEYS.owner });
  const as = (name: keyof typeof KEYS): TestHttp => kernel.as(KEYS[name]);
  return { kernel, model, agent, owner: as('owner'), adam: as('adam'), alice: as('alice'), bob: as('bob'), vera: as('vera') };
};

/** Makes an agent from the lines behind its name; resolves with its path. */
export const madeBy = async (http: TestHttp, name: string, lines = ''): Promise<string> =>
  `/api/agents/${(await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n${lines}` })).body.agent_id}`;
