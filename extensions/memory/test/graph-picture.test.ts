/** The graph as a picture: 500 things, by keys alone, with a table beside it. */
import { useBrowser } from '@svc/test/page/browser';
import { keyOf, logInAs, person } from '@svc/test/page/callers';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { layoutOf, nodeAfter } from '../panels/memory/graph-layout.js';

const THINGS = 500;
/** Each thing knows the one before it, and every seventh the first. */
const relations = Array.from({ length: THINGS - 1 }, (_, index) => ({ subject: `Thing ${index + 1}`, object: `Thing ${index % 7 === 0 ? 0 : index}` }));
const edges = relations.map(({ subject, object }) => ({ source: { id: subject, name: subject }, relation: { type: 'knows' }, target: { id: object, name: object } }));

describe('memory: the picture of the graph', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  after(() => stopTestKernels());

  it('places 500 things apart from each other within its frame, the same each time and in little time', () => {
    const begun = process.cpuUsage();
    const { nodes, edges: drawn } = layoutOf(edges, 800, 560);
    const { user } = process.cpuUsage(begun);
    expect([nodes.length, drawn.length]).to.deep.equal([THINGS, THINGS - 1]);
    for (const { x, y } of nodes) expect(x >= 0 && x <= 800 && y >= 0 && y <= 560).to.equal(true);
    expect(new Set(nodes.map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`)).size).to.be.greaterThan(THINGS * 0.8);
    expect(layoutOf(edges, 800, 560).nodes).to.deep.equal(nodes);
    expect(user / 1_000, 'ms').to.be.lessThan(1_000);
  });

  it('leads by arrows to what stands in their direction, and everywhere from anywhere', () => {
    const { nodes } = layoutOf(edges, 800, 560);
    const [first] = nodes;
    const reached = new Set([first]);
    for (const from of reached)
      for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']) {
        const next = nodeAfter(key, nodes, from);
        if (next && from) expect(key === 'ArrowLeft' ? next.x < from.x : key === 'ArrowRight' ? next.x > from.x : key === 'ArrowUp' ? next.y < from.y : next.y > from.y).to.equal(true);
        if (next) reached.add(next);
      }
    expect(reached.size).to.be.greaterThan(THINGS * 0.95);
    expect(nodeAfter('End', nodes, first)).to.equal(nodes.at(-1));
    expect(nodeAfter('Home', nodes, nodes[9])).to.equal(first);
    expect(nodeAfter('x', nodes, first)).to.equal(undefined);
  });

  it('is walked by keys on the page, and Enter says what belongs to a thing', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}${person('root', 'owner')}` });
    const http = kernel.as(keyOf('root'));
    const { id } = (await http.expect(200, 'GET', '/api/agents')).body.agents[0];
    const triples = relations.map(({ subject, object }) => ({ subject, subject_type: 'thing', relation: 'knows', object, object_type: 'thing' }));
    await http.expect(200, 'POST', `/api/memory/agents/${id}/relations`, triples);
    const { page } = await chromium.open(`${kernel.url}/#/memory/graph/${id}`);
    await logInAs(page, 'root');
    const picture = page.getByRole('group', { name: 'Relations' });
    await picture.waitFor();
    expect(await picture.getByRole('button').count()).to.equal(THINGS);
    await page.getByText('500 things and 499 relations').waitFor();
    // One stop of Tab.
    expect(await picture.locator('[tabindex="0"]').count()).to.equal(1);
    await picture.locator('[tabindex="0"]').focus();
    const at = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
    await page.keyboard.press('Home');
    const first = await at();
    await page.keyboard.press('ArrowRight');
    const second = await at();
    expect([first, second]).to.satisfy(([one, other]: string[]) => /^Thing \d+, \d+ relations?$/.test(one ?? '') && /^Thing \d+, /.test(other ?? '') && one !== other);
    await page.keyboard.press('Enter');
    const name = second.split(',')[0] ?? '';
    const count = Number(/, (\d+)/.exec(second)?.[1]);
    await page.getByText(`${name}: ${count} `).waitFor();
  });
});
