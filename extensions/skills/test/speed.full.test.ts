/** A thousand skills: what a start, the list and a message cost. The README has the figures. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

const MANY = 1_000;
const FEW = 10;
const MESSAGES = 40;
const LISTS = 20;

interface Figures {
  readonly loadMs: number;
  readonly listMs: number;
  readonly messageMs: number;
  readonly promptChars: number;
}

const cpuMs = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

describe('1,000 installed skills', function () {
  this.timeout(300_000);
  const homes: string[] = [];
  after(async () => {
    for (const home of homes) await rm(home, { recursive: true, force: true });
  });

  const figuresOf = async (count: number): Promise<Figures> => {
    const home = await mkdtemp(join(tmpdir(), 'svc-skills-'));
    homes.push(home);
    for (let at = 0; at < count; at += 1) {
      const folder = join(home, 'skills', `task-${at}`);
      await mkdir(folder, { recursive: true });
      await writeFile(
        join(folder, 'SKILL.md'),
        `---\nname: task-${at}\ndescription: Does task ${at} of the house, with all that belongs to it. Use it when somebody asks for task ${at}.\nversion: 1.0.0\n---\n${'Do one thing after the other. '.repeat(60)}\n`,
      );
    }
    const world: ModelKernel = await bootWithModel({ text: 'done' }, { home, config: OPEN_RATE });
    const { http, agent } = world;
    const loadMs = await cpuMs(() => http.expect(200, 'POST', '/api/skills/reload'));
    const list = () => http.expect(200, 'GET', '/api/skills');
    expect((await list()).body.total).to.equal(count + 1);
    const listMs =
      (await cpuMs(async () => {
        for (let at = 0; at < LISTS; at += 1) await list();
      })) / LISTS;
    const say = async (): Promise<void> => {
      const { session_id } = (await http.expect(200, 'POST', `/api/agents/${agent.id}/sessions`, {})).body;
      await http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'How much is this?', session_id });
    };
    for (let at = 0; at < MESSAGES / 2; at += 1) await say();
    const messageMs =
      (await cpuMs(async () => {
        for (let at = 0; at < MESSAGES; at += 1) await say();
      })) / MESSAGES;
    const promptChars = (await http.expect(200, 'GET', `/api/agents/${agent.id}/skills`)).body.listing.length;
    await stopModelKernels();
    return { loadMs, listMs, messageMs, promptChars };
  };

  it('cost a message little more than ten do, and are listed at once', async () => {
    const few = await figuresOf(FEW);
    const many = await figuresOf(MANY);
    const rounded = ({ loadMs, listMs, messageMs, promptChars }: Figures): string =>
      `load ${loadMs.toFixed(0)} ms, list ${listMs.toFixed(1)} ms, message ${messageMs.toFixed(2)} ms, listing ${promptChars} characters`;
    console.log(`      ${FEW}: ${rounded(few)}\n      ${MANY}: ${rounded(many)}`);
    expect(many.listMs).to.be.below(50);
    expect(many.messageMs / few.messageMs).to.be.below(1.2);
  });
});
