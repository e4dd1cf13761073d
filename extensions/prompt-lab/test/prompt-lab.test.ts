/** Prompt versions and experiments over HTTP, with a model on its wire. */
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

interface Arm {
  readonly variant_id: string;
  readonly impressions: number;
  readonly wins: number;
}

describe('prompt-lab', function () {
  this.timeout(60_000);
  let http: TestHttp;
  let agent: string;
  before(async () => {
    const world = await bootWithModel(undefined, { config: `${OPEN_RATE}[prompt_intelligence]\nenabled = true\n` });
    http = world.http;
    agent = world.agent.id;
  });
  after(stopModelKernels);
  const save = async (system_prompt: string) => (await http.expect(200, 'POST', `/agents/${agent}/prompts/versions`, { system_prompt })).body;
  const draft = async (versions: readonly string[], traffic_split = [50, 50]) => ({ name: 'tone', variants: versions.map((prompt_version_id) => ({ name: 'arm', prompt_version_id })), traffic_split });

  it('keep versions, activate one, and refuse to delete the active one', async () => {
    const made = await save('Be brief.');
    expect(made).to.include({ agent_id: agent, system_prompt: 'Be brief.', is_active: false });
    expect((await http.expect(200, 'POST', `/prompts/versions/${made.id}/activate`)).body.is_active).to.equal(true);
    expect((await http.expect(409, 'DELETE', `/api/prompts/versions/${made.id}`)).body.code).to.equal('prompt_lab_in_use');
    const other = await save('Be long.');
    await http.expect(200, 'DELETE', `/prompts/versions/${other.id}`);
    await http.expect(404, 'GET', `/prompts/versions/${other.id}`);
  });

  it('P1 P2 count each run for the arm that its session keeps', async () => {
    const ids = [(await save('One.')).id, (await save('Two.')).id];
    await http.expect(400, 'POST', `/agents/${agent}/prompts/experiments`, await draft(ids, [50, 49]));
    await http.expect(400, 'POST', `/agents/${agent}/prompts/experiments`, await draft(ids.slice(1), [100]));
    const { id } = (await http.expect(200, 'POST', `/agents/${agent}/prompts/experiments`, await draft(ids))).body;
    const second = (await http.expect(200, 'POST', `/agents/${agent}/prompts/experiments`, await draft(ids))).body;
    await http.expect(409, 'POST', `/prompts/experiments/${id}/pause`);
    expect((await http.expect(200, 'POST', `/prompts/experiments/${id}/start`)).body.status).to.equal('running');
    await http.expect(409, 'POST', `/prompts/experiments/${second.id}/start`);
    await http.expect(409, 'DELETE', `/prompts/versions/${ids[0]}`);
    const metrics = async (): Promise<Arm[]> => (await http.expect(200, 'GET', `/prompts/experiments/${id}/metrics`)).body.metrics;
    const runs = async (): Promise<number> => (await metrics()).reduce((sum, arm) => sum + arm.impressions, 0);
    for (let turn = 1; turn <= 3; turn += 1) {
      await http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'hello' });
      await until(async () => (await runs()) === turn);
    }
    expect((await metrics()).map((arm) => arm.impressions).toSorted()).to.deep.equal([0, 3]);
    const done = (await http.expect(200, 'POST', `/prompts/experiments/${id}/complete`)).body;
    expect([done.status, done.winner_variant_id]).to.deep.equal(['completed', null]);
  });
});
