/** Shared pages are drawn once for each snapshot, off the main thread, and never again where that took too long. */
import { SvcError } from '@svc/api';
import { expect } from 'chai';
import { createDrawnPages } from '../../src/sharing/drawn-pages.js';

const PAGE = {
  title: 'Tea',
  asOf: '',
  isWhole: true,
  messages: [
    { who: 'person', text: 'a*b*', files: 0 },
    { who: 'agent', text: '**tea** <b>', files: 0 },
  ],
} as const;

const pagesWith = (run: () => Promise<string[]>) => {
  const asked: unknown[] = [];
  const warned: string[] = [];
  const workers = {
    run: async (_worker: unknown, input: unknown) => {
      asked.push(input);
      return run();
    },
  };
  const pages = createDrawnPages({ workers: workers as never, log: { warn: (text) => void warned.push(text) } });
  return { pages, asked, warned };
};
const failure = (code: string) => async (): Promise<string[]> => {
  throw new SvcError(code, code, { status: 503 });
};

describe('the texts of a shared page', () => {
  it('D1 are drawn once for a snapshot, however many read it, and anew for another one', async () => {
    const { pages, asked } = pagesWith(async () => ['', '<p>drawn</p>']);
    await Promise.all(Array.from({ length: 6 }, () => pages.of('one', PAGE)));
    expect(await pages.of('one', PAGE)).to.deep.equal(['', '<p>drawn</p>']);
    expect(asked).to.deep.equal([['', '**tea** <b>']]);
    await pages.of('two', PAGE);
    expect(asked).to.have.length(2);
  });

  it('D2 are shown as they were written where drawing takes too long, and not tried again', async () => {
    const { pages, asked, warned } = pagesWith(failure('workers_timeout'));
    for (let reader = 0; reader < 3; reader += 1) expect(await pages.of('slow', PAGE)).to.deep.equal(['', '<pre>**tea** &lt;b&gt;</pre>']);
    expect([asked.length, warned.length]).to.deep.equal([1, 1]);
  });

  it('D2 are tried again where only no worker was free', async () => {
    const { pages, asked } = pagesWith(failure('workers_busy'));
    for (let reader = 0; reader < 3; reader += 1) expect(await pages.of('busy', PAGE)).to.deep.equal(['', '<pre>**tea** &lt;b&gt;</pre>']);
    expect(asked).to.have.length(3);
  });
});
