/** Processes that the daemon started and that outlive its SIGKILL, in their group and out of it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTimeOf } from '@svc/platform/adapters/child/process-identity';

import { expect } from 'chai';
import { type Place, beginLife, createPlace, endLives, httpOf, until } from './daemon-life.js';
import { ensureAgent, send } from './entry-points.js';
import { answerTo, type PlannedModel, startPlannedModel } from './planned-model.js';
import { storyOf } from './scenario.js';

describe('a child process that survived the daemon', () => {
  let model: PlannedModel;
  let place: Place;

  before(async () => {
    model = await startPlannedModel();
    // In the sandbox a command ends with the daemon.
    place = await createPlace(model.url, '[tools]\nsandbox = "off"\n');
  });
  afterEach(endLives);
  after(async () => {
    await model.close();
    place.clean();
  });

  it('is ended before its run goes on, and the model is told that the outcome is not known', async function () {
    this.timeout(120_000);
    const [pidFile, orphanFile] = [join(place.effects, 'pid'), join(place.effects, 'stray')];
    const story = storyOf('rest', undefined, [
      [
        {
          name: 'shell_exec',
          args: { command: `setsid sh -c 'echo $$ > ${orphanFile}; exec sleep 300' & while [ ! -s ${orphanFile} ]; do :; done; echo $$ > ${pidFile}; exec sleep 300`, timeout_seconds: 400 },
        },
      ],
    ]);
    const first = beginLife(place, 1);
    const url = (await first.url) ?? '';
    const agentId = await ensureAgent(url);
    const cut = send(url, agentId, story.message);
    await until(async () => (await pidIn(pidFile)) > 0, 40_000);
    const [child, orphan] = [await pidIn(pidFile), await pidIn(orphanFile)];
    first.kill();
    await Promise.all([first.gone, cut]);
    expect([await isAlive(child), await isAlive(orphan)], 'the children outlive the daemon').to.deep.equal([true, true]);

    // The request that carries the result is the first that may come from the next life.
    const aliveAtRequest: Array<Promise<boolean>> = [];
    model.onRequest(() => {
      aliveAtRequest.push(isAlive(child), isAlive(orphan));
      return undefined;
    });
    const second = beginLife(place, 2);
    const again = await send((await second.url) ?? '', agentId, story.message);

    expect(again.answer).to.equal(answerTo(story.plan.mark));
    expect(await Promise.all(aliveAtRequest)).to.deep.equal([false, false]);
    const events = await httpOf((await second.url) ?? '').events('POST', `/api/agents/${agentId}/message/stream`, { message: story.message.text }, { 'last-event-id': `${again.runId}.1.1` });
    expect(events.find((event) => event.event === 'tool_result')?.data.result).to.contain('unknown whether it took effect');
  });

  it('that an agent had started to go on by itself is ended too, and whoever asks for it is told that it was lost', async function () {
    this.timeout(120_000);
    const pidFile = join(place.effects, 'long');
    const first = beginLife(place, 3);
    const url = (await first.url) ?? '';
    const agentId = await ensureAgent(url);
    const invoke = (base: string, tool: string, body: object) => httpOf(base).post(`/api/tools/${tool}/invoke?agent_id=${agentId}`, body);
    const started = await invoke(url, 'process_start', { command: `setsid sh -c 'echo $$ > ${pidFile}; exec sleep 300' & exec sleep 300` });
    const processId: string = /process (\S+):/.exec(started.body.content)?.[1] ?? '';
    await until(async () => (await pidIn(pidFile)) > 0, 40_000);
    const child = await pidIn(pidFile);
    first.kill();
    await first.gone;
    expect(await isAlive(child), 'it outlives the daemon').to.equal(true);

    const next = (await beginLife(place, 4).url) ?? '';
    const isKnown = await until(async () => /was lost/.test((await invoke(next, 'process_list', {})).body.content), 40_000);

    expect(isKnown, 'it is known to be lost').to.equal(true);
    expect(await isAlive(child)).to.equal(false);
    const polled = await invoke(next, 'process_poll', { process_id: processId });
    expect([polled.status, polled.body.is_error]).to.deep.equal([400, true]);
    expect(polled.body.content).to.contain('was lost: the daemon stopped while it ran');
    expect((await invoke(next, 'process_write', { process_id: processId, data: 'x' })).body.content).to.contain('was lost');
  });

  for (const [index, point] of ['before spawn #1', 'after spawn #1'].entries())
    it(`that was about to go on by itself when the daemon died, ${point.replace(' #1', '')}, is not started a second time, and the model is told`, async function () {
      this.timeout(120_000);
      const file = join(place.effects, `started-${index}`);
      const story = storyOf('rest', undefined, [[{ name: 'process_start', args: { command: `echo $$ >> ${file}; exec sleep 300` } }]]);
      const first = beginLife(place, 5 + 2 * index, point);
      const url = (await first.url) ?? '';
      const agentId = await ensureAgent(url);
      await Promise.all([send(url, agentId, story.message), first.gone]);

      const next = (await beginLife(place, 6 + 2 * index).url) ?? '';
      const again = await send(next, agentId, story.message);

      expect(again.answer).to.equal(answerTo(story.plan.mark));
      const events = await httpOf(next).events('POST', `/api/agents/${agentId}/message/stream`, { message: story.message.text }, { 'last-event-id': `${again.runId}.1.1` });
      const result: string = events.find((event) => event.event === 'tool_result')?.data.result;
      expect(result).to.match(/was lost: the daemon stopped while it ran.*not started a second time/s);
      const pids = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
      expect(pids.length).to.be.at.most(1);
      for (const pid of pids) expect(await isAlive(Number(pid))).to.equal(false);
    });
});

const pidIn = async (file: string): Promise<number> => Number(await readFile(file, 'utf8').catch(() => '0'));

/** One that nobody has reaped yet does not live: it can do nothing any more. */
const isAlive = async (pid: number): Promise<boolean> => (await startTimeOf(pid)) !== undefined;
