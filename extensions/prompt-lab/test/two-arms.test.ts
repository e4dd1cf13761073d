/** Experiments of two arms over two hundred sessions, with restarts in between. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const SESSIONS = 200;
const AT_ONCE = 10;
const CONFIG = `${OPEN_RATE}[prompt_intelligence]\nenabled = true\n`;

interface Arm {
  readonly variant_id: string;
  readonly variant_name: string;
  readonly impressions: number;
  readonly wins: number;
}

describe('an experiment of two arms over 200 sessions', function () {
  this.timeout(180_000);
  let home: string;
  let world: ModelKernel;
  /** Of ten answers of an arm, a person likes so many. */
  let good: Readonly<Record<string, number>>;
  let asked: Record<string, number>;
  let liked: number;
  /** The arm that answered, for each session and message. */
  let seen: Map<string, string[]>;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-arms-'));
    asked = { One: 0, Two: 0 };
    liked = 0;
    seen = new Map();
  });
  afterEach(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  const boot = async (): Promise<void> => {
    world = await bootWithModel(
      ({ body }) => {
        const text = JSON.stringify(body.messages);
        const arm = text.includes('Prompt One.') ? 'One' : text.includes('Prompt Two.') ? 'Two' : undefined;
        // A title is asked for without the prompt of the agent.
        if (arm === undefined) return { text: 'A title' };
        const marks = [...text.matchAll(/session (\d+) asks/g)].map(([, mark]) => mark ?? '');
        const mark = marks.at(-1) ?? '';
        seen.set(mark, [...(seen.get(mark) ?? []), arm]);
        const at = asked[arm] ?? 0;
        asked[arm] = at + 1;
        return { text: at % 10 < (good[arm] ?? 10) ? 'Good.' : 'Bad.' };
      },
      { home, config: CONFIG },
    );
  };
  const restart = async (): Promise<void> => {
    await stopModelKernels();
    await boot();
  };
  const begin = async (): Promise<{ id: string; agent: string }> => {
    await boot();
    const agent = world.agent.id;
    const save = async (system_prompt: string): Promise<string> => (await world.http.expect(200, 'POST', `/agents/${agent}/prompts/versions`, { system_prompt })).body.id;
    const variants = [
      { name: 'One', prompt_version_id: await save('Prompt One.') },
      { name: 'Two', prompt_version_id: await save('Prompt Two.') },
    ];
    const { id } = (
      await world.http.expect(200, 'POST', `/agents/${agent}/prompts/experiments`, { name: 'two arms', variants, traffic_split: [50, 50], success_criteria: { require_user_helpful: true } })
    ).body;
    await world.http.expect(200, 'POST', `/prompts/experiments/${id}/start`);
    return { id, agent };
  };
  /** Two hundred sessions in four lives of the daemon; some ask again in a later life. Answers how many runs that were. */
  const live = async (agent: string): Promise<number> => {
    const sessions: string[] = [];
    const ask = async (at: number): Promise<void> => {
      const { body } = await world.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: `session ${at} asks`, session_id: sessions[at] });
      if (body.response !== 'Good.') return;
      liked += 1;
      await world.http.expect(200, 'PUT', `/api/runs/${body.run_id}/rating`, { value: 'up' });
    };
    let runs = 0;
    for (let life = 0; life < 4; life += 1) {
      if (life > 0) await restart();
      for (let at = (life - 1) * 10; life > 0 && at < life * 10; at += 1, runs += 1) await ask(at);
      for (let from = 0; from < SESSIONS / 4; from += AT_ONCE)
        await Promise.all(
          Array.from({ length: AT_ONCE }, async () => {
            const { session_id } = (await world.http.expect(200, 'POST', `/api/agents/${agent}/sessions`, {})).body;
            const at = sessions.push(session_id) - 1;
            await ask(at);
            runs += 1;
          }),
        );
    }
    return runs;
  };
  const metrics = async (id: string): Promise<Arm[]> => (await world.http.expect(200, 'GET', `/prompts/experiments/${id}/metrics`)).body.metrics;
  const expectCounted = async (id: string, runs: number): Promise<void> => {
    expect(seen.size).to.equal(SESSIONS);
    for (const [mark, arms] of seen) expect(new Set(arms).size, `session ${mark}: ${arms.join()}`).to.equal(1);
    expect([...seen.values()].filter(({ length }) => length > 1)).to.have.length(30);
    await until(async () => (await metrics(id)).reduce((sum, arm) => sum + arm.impressions, 0) === runs);
    await until(async () => (await metrics(id)).reduce((sum, arm) => sum + arm.wins, 0) === liked);
    expect((await metrics(id)).map(({ impressions }) => impressions)).to.deep.equal([asked.One, asked.Two]);
    expect(Math.min(asked.One ?? 0, asked.Two ?? 0)).to.be.greaterThan(70);
  };

  it('P1 P2 keeps each session in its arm, counts every run, and gives the agent the better prompt', async () => {
    good = { One: 4, Two: 9 };
    const { id, agent } = await begin();
    await expectCounted(id, await live(agent));
    const {
      metrics: [, two],
      over_time: course,
    } = (await world.http.expect(200, 'GET', `/prompts/experiments/${id}/metrics`)).body;
    const end = course.arms[1].points.at(-1);
    expect([end.runs, end.low, end.high]).to.deep.equal([two.impressions, 100 * two.interval.low, 100 * two.interval.high]);
    const done = (await world.http.expect(200, 'POST', `/prompts/experiments/${id}/complete`)).body;
    expect([done.status, done.winner_variant_id]).to.deep.equal(['completed', two?.variant_id]);
    expect((await world.http.expect(200, 'GET', `/api/agents/${agent}`)).body.manifest_toml).to.contain('Prompt Two.');
  });

  it('ends in a tie where both arms are as good', async () => {
    good = { One: 7, Two: 7 };
    const { id, agent } = await begin();
    await expectCounted(id, await live(agent));
    const done = (await world.http.expect(200, 'POST', `/prompts/experiments/${id}/complete`)).body;
    expect([done.status, done.winner_variant_id]).to.deep.equal(['completed', null]);
    expect((await world.http.expect(200, 'GET', `/api/agents/${agent}`)).body.manifest_toml).to.not.contain('Prompt Two.');
  });
});
