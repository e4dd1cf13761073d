import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type Names, recordedNames, servedNames } from './names.js';

const RECORD = 'node dist/test/test/conformance/record-served.program.js';

describe('names that are kept', () => {
  let served: Names;
  before(async () => {
    served = servedNames(await bootTestKernel({ config: '[extensions]\npreset = "full"\n' }));
  });
  after(stopTestKernels);

  for (const kind of ['operations', 'audit'] as const)
    it(`of ${kind} are those of the record: none is changed, and a new one is recorded`, () => {
      const recorded = recordedNames()[kind];
      for (const [place, name] of Object.entries(recorded)) expect([place, served[kind][place]]).to.deep.equal([place, name]);
      expect(
        Object.keys(served[kind]).filter((place) => !(place in recorded)),
        `new; record them with \`${RECORD}\``,
      ).to.deep.equal([]);
    });
});
