/** What a call may say of its end, and methods that answer with one frame after another. */
import { type CallControl, Type, atOnce, defineService, method, streamMethod } from '@svc/api';
import { expect } from 'chai';
import { Lifetime } from '../../src/lifetime.js';
import { type Contributor, currentContributor } from '../../src/owner.js';
import { ServiceRegistry } from '../../src/service-registry.js';

const ownerOf = (id: string, generation = 1): Contributor => ({ id, generation, lifetime: new Lifetime(`${id}@${generation}`) });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = (): Promise<never> => new Promise(() => undefined);
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'answered',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

/** Waits until it is told that nobody waits for it any more. */
const untilCancelled = (signal: AbortSignal): Promise<void> => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));

const Model = defineService('model', '1.0.0', {
  ask: method([Type.String(), Type.Optional(Type.Integer())], Type.Unknown()),
  stream: streamMethod([Type.Integer()], Type.Unknown()),
});

interface Code {
  readonly ask?: (text: string, count: number | undefined, call: CallControl) => unknown;
  readonly stream?: (count: number, call: CallControl) => AsyncIterable<unknown>;
}

const create = (code: Code) => {
  const services = new ServiceRegistry(() => undefined);
  const provider = ownerOf('model');
  const none = async function* (): AsyncGenerator<unknown> {
    yield* [];
  };
  services.provide(provider, Model, { ask: code.ask ?? (() => undefined), stream: code.stream ?? none });
  services.provided.swap(undefined, provider);
  return { model: services.require(ownerOf('runs'), Model), provider, services };
};

describe('a call of a service', () => {
  it('gives the method its arguments, one that was left out as undefined, and its control behind them', async () => {
    const seen: unknown[] = [];
    const { model } = create({ ask: (text, count, call) => void seen.push([text, count, call.signal.aborted]) });
    await model.ask('a');
    await model.ask('b', 2);
    await model.ask('c', undefined, { deadlineMs: 60_000 });
    expect(seen).to.deep.equal([
      ['a', undefined, false],
      ['b', 2, false],
      ['c', undefined, false],
    ]);
  });

  it('that its caller cancels aborts the signal of the method, with the reason', async () => {
    const abort = new AbortController();
    const { model } = create({
      ask: async (_text, _count, { signal }) => {
        await untilCancelled(signal);
        throw signal.reason;
      },
    });
    const asked = codeOf(model.ask('a', 1, { signal: abort.signal }));
    abort.abort(new Error('the client left'));
    expect(await asked).to.equal('the client left');
  });

  it('fails with service_deadline, 504 and retry, when its time is up, and tells the method', async () => {
    let reported: unknown;
    const { model } = create({
      ask: async (_text, _count, { signal }) => {
        await untilCancelled(signal);
        reported = signal.reason;
      },
    });
    const error = await model.ask('a', 1, { deadlineMs: 5 }).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'service_deadline', status: 504, retry: true });
    expect(error).to.have.property('message').that.contains('model.ask').and.contains('5 ms');
    await turn();
    expect(reported).to.equal(error);
  });

  it('with a deadline can be cancelled too', async () => {
    const abort = new AbortController();
    const { model } = create({ ask: (_text, _count, { signal }) => untilCancelled(signal).then(() => 'cancelled') });
    const asked = model.ask('a', 1, { deadlineMs: 60_000, signal: abort.signal });
    abort.abort();
    expect(await asked).to.equal('cancelled');
  });

  it('holds its provider for as long as the method works, also where the caller waits no longer', async () => {
    let finish: () => void = () => undefined;
    const { model, provider } = create({
      ask: () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    });
    expect(await codeOf(model.ask('a', 1, { deadlineMs: 1 }))).to.equal('service_deadline');
    expect(provider.lifetime.holds()).to.deep.equal(['service model.ask']);
    finish();
    await turn();
    expect(provider.lifetime.holds()).to.deep.equal([]);
  });

  it('that answered in time leaves no timer behind, nor does one that failed at once', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const { model } = create({
      ask: (text) => {
        if (text === 'bad') throw new Error('bad');
      },
    });
    // The runner sets its own timer when a test first waits.
    await turn();
    const before = timers();
    await model.ask('good', 1, { deadlineMs: 600_000 });
    expect(await codeOf(model.ask('bad', 1, { deadlineMs: 600_000 }))).to.equal('bad');
    await turn();
    expect(timers()).to.equal(before);
  });
});

describe('a call of a service by who does not wait for what is known', () => {
  it('is answered without a promise where the method does so, and holds nobody afterwards', () => {
    const { model, provider } = create({ ask: (text) => `${text} as ${currentContributor()?.id}` });
    expect(atOnce(model).ask('a')).to.equal('a as model');
    expect(provider.lifetime.holds()).to.deep.equal([]);
  });

  it('is answered by a promise where the method makes one, and holds the provider until then', async () => {
    const { model, provider } = create({ ask: async (text) => text });
    const asked = atOnce(model).ask('a');
    expect(asked).to.be.instanceOf(Promise);
    expect(provider.lifetime.holds()).to.deep.equal(['service model.ask']);
    expect(await asked).to.equal('a');
    expect(provider.lifetime.holds()).to.deep.equal([]);
  });

  it('never throws: a method that throws, and a provider that is gone, reject', async () => {
    const { model, provider, services } = create({
      ask: () => {
        throw new Error('it broke');
      },
    });
    expect(await codeOf(atOnce(model).ask('a') as Promise<unknown>)).to.equal('it broke');
    expect(provider.lifetime.holds()).to.deep.equal([]);
    services.provided.drop(provider);
    expect(await codeOf(atOnce(model).ask('a') as Promise<unknown>)).to.equal('service_gone');
  });

  it('has its time like any other', async () => {
    const { model } = create({ ask: never });
    expect(await codeOf(atOnce(model).ask('a', 1, { deadlineMs: 5 }) as Promise<unknown>)).to.equal('service_deadline');
  });

  it('streams as it does for others', async () => {
    const { model } = create({
      stream: async function* (count) {
        yield count;
      },
    });
    const frames: unknown[] = [];
    for await (const frame of atOnce(model).stream(7)) frames.push(frame);
    expect(frames).to.deep.equal([7]);
  });
});

describe('a method that streams', () => {
  /** Counts up to what was asked, and writes down how it ended. */
  const counting = () => {
    const ended: string[] = [];
    const stream = async function* (count: number): AsyncGenerator<unknown> {
      let at = 'start';
      try {
        for (let n = 1; n <= count; n++) {
          at = `frame ${n}`;
          yield n;
        }
        at = 'the end';
      } finally {
        ended.push(at);
      }
    };
    return { stream, ended };
  };

  it('gives its frames in order, and holds its provider until the last', async () => {
    const { stream, ended } = counting();
    const { model, provider } = create({ stream });
    const seen: unknown[] = [];
    for await (const frame of model.stream(3)) {
      expect(provider.lifetime.holds()).to.deep.equal(['service model.stream']);
      seen.push(frame);
    }
    expect(seen).to.deep.equal([1, 2, 3]);
    expect(ended).to.deep.equal(['the end']);
    expect(provider.lifetime.holds()).to.deep.equal([]);
  });

  it('begins when its first frame is asked for, not before', async () => {
    const { stream, ended } = counting();
    const { model, provider } = create({ stream });
    const unread = model.stream(3);
    await turn();
    expect(provider.lifetime.holds()).to.deep.equal([]);
    for await (const frame of unread) if (frame === 1) break;
    expect(ended).to.deep.equal(['frame 1']);
  });

  it('ends where its consumer breaks off, and lets go of its provider', async () => {
    const { stream, ended } = counting();
    const { model, provider } = create({ stream });
    for await (const frame of model.stream(1_000)) if (frame === 2) break;
    expect(ended).to.deep.equal(['frame 2']);
    expect(provider.lifetime.holds()).to.deep.equal([]);
  });

  it('passes on what it fails with after the frames before it', async () => {
    const { model, provider } = create({
      stream: async function* () {
        yield 1;
        throw new Error('the line is cut');
      },
    });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const frame of model.stream(2)) seen.push(frame);
    })();
    expect(await codeOf(reading)).to.equal('the line is cut');
    expect(seen).to.deep.equal([1]);
    expect(provider.lifetime.holds()).to.deep.equal([]);
  });

  it('runs as its provider and is told when its caller cancels', async () => {
    const abort = new AbortController();
    const { model } = create({
      stream: async function* (_count, { signal }) {
        yield currentContributor()?.id;
        await untilCancelled(signal);
        yield 'told';
      },
    });
    const seen: unknown[] = [];
    for await (const frame of model.stream(1, { signal: abort.signal })) {
      seen.push(frame);
      abort.abort();
    }
    expect(seen).to.deep.equal(['model', 'told']);
  });

  it('fails with service_deadline when its time is up, also where the method listens to nothing', async () => {
    const { model } = create({
      stream: async function* () {
        yield 1;
        await never();
      },
    });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const frame of model.stream(1, { deadlineMs: 5 })) seen.push(frame);
    })();
    expect(await codeOf(reading)).to.equal('service_deadline');
    expect(seen).to.deep.equal([1]);
  });

  it('rejects with service_gone at its first frame when nobody provides it', async () => {
    const { model, provider, services } = create({});
    services.provided.swap(provider, undefined);
    const reading = (async () => {
      for await (const _frame of model.stream(1)) expect.fail('a frame of nobody');
    })();
    expect(await codeOf(reading)).to.equal('service_gone');
  });
});
