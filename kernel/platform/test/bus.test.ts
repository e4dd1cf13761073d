/** The promises of a bus (M1 to M4), kept by the one inside a process. */
import { expect } from 'chai';
import type { Bus } from '../src/bus/bus.js';
import { createLocalBusHub } from '../src/bus/local-bus.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the bus inside a process', () => {
  let failures: unknown[];
  let a: Bus;
  let b: Bus;
  let received: string[];

  beforeEach(() => {
    const hub = createLocalBusHub();
    failures = [];
    received = [];
    a = hub.join('a', (error) => failures.push(error));
    b = hub.join('b', (error) => failures.push(error));
    a.subscribe('choices', ({ extension }) => void received.push(`a:${extension}`));
    b.subscribe('choices', ({ extension }) => void received.push(`b:${extension}`));
  });

  it('brings a message to every other member in order, and never to its sender', async () => {
    a.publish('choices', { extension: 'one' });
    a.publish('choices', { extension: 'two' });
    b.publish('choices', { extension: 'three' });
    await turn();
    expect(received.filter((text) => text.startsWith('b:'))).to.deep.equal(['b:one', 'b:two']);
    expect(received.filter((text) => text.startsWith('a:'))).to.deep.equal(['a:three']);
  });

  it('keeps channels apart', async () => {
    a.publish('events', { event: 'x', data: 1 });
    await turn();
    expect(received).to.deep.equal([]);
  });

  it('calls nobody inside the call that published', async () => {
    a.publish('choices', { extension: 'one' });
    expect(received).to.deep.equal([]);
    await turn();
    expect(received).to.have.length(1);
  });

  it('says what a listener threw, and brings the message to the others', async () => {
    const broken = b.subscribe('choices', () => {
      throw new Error('broken');
    });
    b.subscribe('choices', () => void received.push('b again'));
    a.publish('choices', { extension: 'one' });
    await turn();
    expect(failures.map(String)).to.deep.equal(['Error: broken']);
    expect(received).to.deep.equal(['b:one', 'b again']);
    await broken.dispose();
    a.publish('choices', { extension: 'two' });
    await turn();
    expect(failures).to.have.length(1);
  });

  it('is never alone where others work on the database whom it does not reach', () => {
    expect(
      createLocalBusHub({ soleWriter: false })
        .join('c', () => undefined)
        .isAlone(),
    ).to.equal(false);
    expect(
      createLocalBusHub()
        .join('c', () => undefined)
        .isAlone(),
    ).to.equal(true);
  });

  it('knows when nobody else is there', async () => {
    expect(a.isAlone()).to.equal(false);
    await b.close();
    expect(a.isAlone()).to.equal(true);
    a.publish('choices', { extension: 'one' });
    b.publish('choices', { extension: 'two' });
    await turn();
    expect(received.filter((text) => text.startsWith('b:'))).to.deep.equal([]);
  });
});
