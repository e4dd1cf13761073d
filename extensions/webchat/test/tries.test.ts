/** What is offered to somebody who has no key yet. */
import { stepsOf } from '../../llm/src/drivers/plain-request.js';
import { expect } from 'chai';
import { MOCK_TRIES } from '../panels/chat/tries.js';

describe('what a conversation offers without a key', () => {
  it('is what the mock provider can do', () => {
    expect(MOCK_TRIES.map((text) => stepsOf(text).map((step) => (step.do === 'call' ? step.tool : step.text)))).to.deep.equal([['file_write', 'file_read'], ['file_list'], ['12*(3+4) = 84']]);
  });
});
