/** What parts that are made early may know of a start, and when. */
import type { Lifecycle } from '@svc/core';
import { expect } from 'chai';
import { createProgress } from '../src/boot/progress.js';

describe('how far a daemon is', () => {
  const address = { host: '127.0.0.1', port: 4_711 };
  const lifecycle = {} as Lifecycle; // only its identity is looked at

  it('is known step by step: the address with the port, the lifecycle when extensions start', () => {
    const progress = createProgress();
    expect([progress.address(), progress.lifecycle()]).to.deep.equal([undefined, undefined]);
    progress.to({ at: 'listening', address });
    expect([progress.address(), progress.lifecycle()]).to.deep.equal([address, undefined]);
    progress.to({ at: 'starting', address, lifecycle });
    expect([progress.address(), progress.lifecycle()]).to.deep.equal([address, lifecycle]);
  });

  it('gives no lifecycle for changes beside the start, and keeps it while the daemon stops', () => {
    const progress = createProgress();
    progress.to({ at: 'starting', address, lifecycle });
    expect([progress.phase(), progress.lifecycleWhenUp()]).to.deep.equal(['starting', undefined]);
    progress.to({ at: 'ready', address, lifecycle });
    expect([progress.phase(), progress.lifecycleWhenUp()]).to.deep.equal(['ready', lifecycle]);
    progress.to({ at: 'stopping', address, lifecycle });
    expect([progress.phase(), progress.lifecycleWhenUp()]).to.deep.equal(['stopping', lifecycle]);
  });
});
