import { expect } from 'chai';
import { cronWords } from '../panels/schedules/cron-words.js';

describe('a cron expression in words', () => {
  it('is English or Chinese, and nothing where there are no words for it', () => {
    expect(cronWords('0 9 * * 1-5', 'en')).to.equal('At 09:00, Monday through Friday');
    expect(cronWords(' 0 9 * * 1-5 ', 'zh')).to.equal('在09:00, 星期一至星期五');
    for (const text of ['every 30m', 'at 2027-01-31T09:00:00Z', '99 9 * * *', '', 'a b c d e']) expect(cronWords(text, 'en'), text).to.equal(undefined);
  });
});
