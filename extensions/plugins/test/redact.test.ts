/** What a trace shows of a text. */
import { expect } from 'chai';
import { redacted } from '../src/hooks/redact.js';

describe('the text of a plugin’s trace', () => {
  it('leaves keys out, and leaves ids that have the letters of one as they are', () => {
    for (const secret of ['sk-abcdef123456', 'token: fc-ab12cd34ef', '"api_key": "k9s8d7f6"'])
      expect(redacted(secret), secret)
        .to.contain('***')
        .and.not.match(/abcdef|ab12|k9s8/);
    for (const text of ['01a222e4-04b0-71cf-abfc-ea801e1c8c47', 'the task-force-list', '"max_tokens": 4000}']) expect(redacted(text)).to.equal(text);
  });
});
