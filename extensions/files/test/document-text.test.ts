/** The text of a PDF that is built to be hard: its thread is ended, and the message says why there is none. */
import { type Logger, type Workers, SvcError } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { MAX_TEXT_CHARS, pdfText } from '../src/attachments/document-text.js';
import type { UploadRow } from '../src/tables.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const upload: UploadRow = { id: 'u', owner_id: 'owner', agent_id: 'a', filename: 'x.pdf', content_type: 'application/pdf', size_bytes: 4, sha256: 's', created_at: '', path: null, keep_until: null };
const failing = (code: string) => new SvcError(code, code, { status: 503 });

describe('the text of a PDF', () => {
  /** A thread that reads until it is told to stop. */
  const endless: Workers = { run: (_worker, _input, options) => new Promise((_, reject) => options?.signal?.addEventListener('abort', () => reject(failing('workers_cancelled')))) };

  const reading = (workers: Workers, memoryBytes = () => 0) => {
    const clock = virtualClock(0);
    const place = { path: 'x', dir: { read: async () => new Uint8Array(4) } as never };
    return { clock, text: pdfText({ workers, clock, log: silent, memoryBytes }, upload, place, MAX_TEXT_CHARS) };
  };

  it('is given up after half a minute, with those that were read before it', async () => {
    const { clock, text } = reading(endless);
    await clock.advance(29_000);
    expect(await Promise.race([text, 'still reading'])).to.equal('still reading');
    await clock.advance(2_000);
    expect(await text).to.equal('[its text is not here: it takes too long to read]');
    expect(clock.pending()).to.equal(0);
  });

  it('is given up when the process has grown by much more than a document should take', async () => {
    let bytes = 1_000_000_000;
    const { clock, text } = reading(endless, () => bytes);
    await clock.advance(200);
    bytes += 400_000_000;
    await clock.advance(1_000);
    expect(await Promise.race([text, 'still reading'])).to.equal('still reading');
    bytes += 10_000_000;
    await clock.advance(1_000);
    expect(await text).to.equal('[its text is not here: it takes too much memory to read]');
  });

  for (const [code, why] of [
    ['workers_out_of_memory', 'too much memory'],
    ['workers_timeout', 'too long'],
    ['workers_busy', 'too many documents'],
    ['workers_failed', 'damaged'],
  ] as const)
    it(`gives way to a note when its thread ends with ${code}`, async () => {
      const { clock, text } = reading({ run: () => Promise.reject(failing(code)) });
      expect(await text).to.contain(why);
      expect(clock.pending()).to.equal(0);
    });

  it('is no note when something else fails: a message is not sent without what was put with it', async () => {
    const { text } = reading({ run: () => Promise.reject(failing('storage_io')) });
    expect(await text.catch((error: unknown) => (error instanceof SvcError ? error.code : error))).to.equal('storage_io');
  });
});
