import { isSvcError } from '@svc/api';
import { expect } from 'chai';
import { STEPS_ZH } from '../panels/channels/steps-zh.js';
import { readFields } from '../src/accounts.js';
import { ADAPTERS } from '../src/adapters/adapters.js';

describe('channels: steps of the setup', () => {
  it('stand in Chinese too, as many as there are, with the same names of pages, scopes and settings', () => {
    const marks = (text: string): string[] => [...text.matchAll(/[a-z]+:[a-z]+(?::[a-z]+)?\b|\[\[\w+\]\]|\/[a-z]+(?:\/[a-z]+)+|x(?:app|oxb)-|@BotFather/g)].map(String).sort();
    for (const { id, steps } of ADAPTERS.values()) {
      const chinese = STEPS_ZH[id] ?? [];
      expect(chinese.length, id).to.equal(steps.length);
      for (const [index, step] of steps.entries()) {
        expect(marks(chinese[index] ?? ''), `${id} ${index}`).to.deep.equal(marks(step));
        expect(chinese[index], `${id} ${index}`).to.match(/\p{Script=Han}/u);
      }
    }
    expect(Object.keys(STEPS_ZH).length).to.equal(ADAPTERS.size);
  });
});

describe('channels: fields', () => {
  it('that every object knows are refused like others that a channel has not', () => {
    for (const key of ['constructor', 'toString', '__proto__', 'nonsense'])
      try {
        readFields('ntfy', [], JSON.parse(`{"fields":{"${key}":"x"}}`));
        expect.fail(key);
      } catch (error) {
        expect(isSvcError(error) && error.code, key).to.equal('channels_bad_fields');
      }
  });
});
