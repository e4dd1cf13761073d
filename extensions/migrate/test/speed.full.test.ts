/** How fast 1,000 conversations with 100,000 messages come in, what that costs in memory, and what others notice. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { database, insert, lines, put } from './homes/write.js';

const SESSIONS = 1_000;
const MESSAGES = 100;

const idOf = (index: number): string => `0b6b5a3e-0000-4d6e-9a55-${String(index).padStart(12, '0')}`;
const eventsOf = (session: number) =>
  Array.from({ length: MESSAGES }, (_, index) => ({
    type: 'message',
    id: `m${index}`,
    parentId: index === 0 ? null : `m${index - 1}`,
    timestamp: new Date(Date.UTC(2025, 0, 1) + (session * MESSAGES + index) * 1_000).toISOString(),
    message: { role: index % 2 === 0 ? 'user' : 'assistant', content: [{ type: 'text', text: `session ${session} message ${index}: ${'some words of an ordinary length '.repeat(6)}` }] },
  }));
const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

describe('the speed of imports', function () {
  this.timeout(600_000);
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-migrate-speed-'));
  });
  after(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });

  for (const layout of ['files', 'database'] as const)
    it(`imports 100,000 messages from ${layout}`, async () => {
      const home = join(folder, layout);
      await put(home, 'openclaw.json', '{}');
      if (layout === 'files') for (let index = 0; index < SESSIONS; index++) await put(home, `agents/main/sessions/${idOf(index)}.jsonl`, lines(eventsOf(index)));
      else
        await database(home, 'agents/main/agent/openclaw-agent.sqlite', [
          'CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq)) STRICT;',
          ...Array.from({ length: SESSIONS }, (_, index) =>
            eventsOf(index)
              .map((event, seq) => insert('transcript_events', { session_id: idOf(index), seq, event_json: JSON.stringify(event), created_at: 1 }))
              .join('\n'),
          ),
        ]);
      const { http } = await bootTestKernel({ config: `${OPEN_RATE}[migrate]\nroots = ["${folder}"]\n` });
      const askMs = async (): Promise<number> => {
        const started = performance.now();
        await http.expect(200, 'GET', '/api/agents');
        return performance.now() - started;
      };
      const alone: number[] = [];
      for (let index = 0; index < 200; index++) alone.push(await askMs());
      globalThis.gc?.();
      const rest = process.memoryUsage().rss;
      let most = rest;
      const started = performance.now();
      const { id } = (await http.expect(202, 'POST', '/api/migrate', { source: home }, { prefer: 'respond-async' })).body;
      const beside: number[] = [];
      for (;;) {
        for (let index = 0; index < 10; index++) beside.push(await askMs());
        // As often as the page asks.
        await new Promise((resolve) => setTimeout(resolve, 300));
        most = Math.max(most, process.memoryUsage().rss);
        const { ended_at: ended, status, messages_imported: messages } = (await http.expect(200, 'GET', `/api/migrate/${id}`)).body;
        if (ended === null) continue;
        expect([status, messages]).to.deep.equal(['completed', SESSIONS * MESSAGES]);
        break;
      }
      const rate = (SESSIONS * MESSAGES) / ((performance.now() - started) / 1_000);
      console.log(
        `      ${layout}: ${Math.round(rate)} messages/s, ${Math.round((most - rest) / 1_048_576)} MiB more, p50 of others ${middle(alone).toFixed(1)} ms alone, ${middle(beside).toFixed(1)} ms beside`,
      );
      // On a busy machine it is slower than on a quiet one; the target there is 3,000.
      expect(rate).to.be.greaterThan(300);
    });
});
