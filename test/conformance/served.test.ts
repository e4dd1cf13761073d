/** The oracle: every operation of the interface against the table of a daemon that runs. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { recordedOperations, servedOperations, specOperations } from './operations.js';

const RECORD = 'node dist/test/test/conformance/record-served.program.js';
const FULL = '[extensions]\npreset = "full"\n';

describe('the operations of the interface', () => {
  let served: string[];
  before(async () => {
    const { daemon } = await bootTestKernel({ config: FULL });
    served = servedOperations(daemon.kernel);
  });
  after(stopTestKernels);

  it('number 341, each named once', () => {
    const names = specOperations().map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).to.equal(341);
  });

  it('are served as far as the record says, and no operation has been lost', () => {
    console.log(`      ${served.length} of ${specOperations().length} operations are served`);
    const lost = recordedOperations().filter((operation) => !served.includes(operation));
    expect(lost, 'operations that were served and are not any more').to.deep.equal([]);
  });

  it('are recorded as soon as they are served', () => {
    const recorded = recordedOperations();
    const unlisted = served.filter((operation) => !recorded.includes(operation));
    expect(unlisted, `newly served; record them with \`${RECORD}\``).to.deep.equal([]);
  });

  it('of step 1 are all there, 29 of them', () => {
    const wanted = specOperations()
      .filter((operation) => operation.step === 1)
      .map(({ method, path }) => `${method} ${path}`);
    expect(wanted).to.have.length(29);
    expect(wanted.filter((operation) => !served.includes(operation))).to.deep.equal([]);
  });
});
