import { expect } from 'chai';
import { nodeProblem, platformProblem } from '../requirements.mjs';

describe('what the machine must be', () => {
  it('takes the Node.js versions that engines names and no others', () => {
    for (const [major, minor] of [
      [20, 19],
      [22, 12],
      [23, 0],
      [24, 1],
    ])
      expect(nodeProblem(major, minor), `${major}.${minor}`).to.equal(undefined);
    for (const [major, minor] of [
      [18, 20],
      [20, 18],
      [21, 7],
      [22, 11],
    ])
      expect(nodeProblem(major, minor), `${major}.${minor}`).to.contain('20.19');
  });

  it('sends Windows to WSL 2 in one sentence', () => {
    expect(platformProblem('win32')).to.contain('WSL 2');
    expect(platformProblem('linux')).to.equal(undefined);
  });
});
