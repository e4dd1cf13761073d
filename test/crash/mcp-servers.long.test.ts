/** MCP servers that outlive the SIGKILL of the daemon that started them. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startTimeOf } from '@svc/platform/adapters/child/process-identity';
import { expect } from 'chai';
import { beginLife, createPlace, endLives, httpOf, until } from './daemon-life.js';
import { startPlannedModel } from './planned-model.js';

const SERVER = resolve('extensions/mcp/test/odd-server.mjs');
const NAMES = ['one', 'two'];

describe('MCP servers of a daemon that is killed', () => {
  afterEach(endLives);

  it('are ended by the next one, which starts each once', async function () {
    this.timeout(120_000);
    const model = await startPlannedModel();
    const place = await createPlace(model.url);
    const file = (name: string): string => join(place.effects, `pids-of-${name}`);
    const started = async (name: string): Promise<number[]> => (await readFile(file(name), 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    const alive = async (name: string): Promise<number[]> => {
      const all = await Promise.all((await started(name)).map(async (pid) => ({ pid, isAlive: (await startTimeOf(pid)) !== undefined })));
      return all.filter(({ isAlive }) => isAlive).map(({ pid }) => pid);
    };
    const connected = (url: string): Promise<boolean> =>
      until(async () => {
        const { body } = await httpOf(url).get('/api/mcp/servers');
        return body.servers?.length === NAMES.length && body.servers.every(({ status }: { status: string }) => status === 'connected');
      }, 40_000);
    try {
      const first = beginLife(place, 1);
      const url = (await first.url) ?? '';
      for (const name of NAMES) await httpOf(url).expect(201, 'POST', '/api/mcp/servers', { name, transport: { type: 'stdio', command: process.execPath, args: [SERVER, 'stubborn', file(name)] } });
      expect(await connected(url)).to.equal(true);
      const before = await Promise.all(NAMES.map(alive));
      expect(before.map(({ length }) => length)).to.deep.equal([1, 1]);
      first.kill();
      await first.gone;
      expect(await Promise.all(NAMES.map(alive)), 'they outlive the daemon').to.deep.equal(before);

      const again = (await beginLife(place, 2).url) ?? '';
      expect(await connected(again)).to.equal(true);
      for (const [index, name] of NAMES.entries()) {
        const [now, ...more] = await alive(name);
        expect(more).to.deep.equal([]);
        expect(now).to.not.equal(before[index]?.[0]);
        expect(await started(name)).to.deep.equal([before[index]?.[0], now]);
      }
      await httpOf(again).expect(200, 'DELETE', '/api/mcp/servers/one');
      expect(await until(async () => (await alive('one')).length === 0, 20_000)).to.equal(true);
    } finally {
      for (const name of NAMES) for (const pid of await alive(name)) process.kill(pid, 'SIGKILL');
      await endLives();
      place.clean();
      await model.close();
    }
  });
});
