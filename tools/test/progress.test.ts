/** What a person sees of work that takes long. */
import { expect } from 'chai';
import { barOf, showProgress } from '../build/progress.mjs';

describe('the progress of long work', () => {
  const shown = (isTTY: boolean) => {
    let text = '';
    let ms = 0;
    const write = (more: string): void => {
      text += more;
    };
    const at = (next: number): void => {
      ms = next;
    };
    return { progress: showProgress('Building 40 parts.', { stream: { isTTY, write }, now: () => ms }), at, text: () => text };
  };

  it('is a line that says what is done, then a bar at a terminal, which goes at the end', () => {
    const { progress, at, text } = shown(true);
    at(9_000);
    progress.to(0.5);
    progress.end();
    expect(text()).to.equal(`Building 40 parts.\n\r  ${barOf(0.5)} 50 % 9 s \r\u001b[K`);
    expect(barOf(0.5)).to.equal('[############............]');
  });

  it('is a line every 15 seconds where there is no terminal, and no control character', () => {
    const { progress, at, text } = shown(false);
    for (let second = 1; second <= 40; second += 1) {
      at(second * 1_000);
      progress.to(second / 40);
    }
    progress.end();
    expect(text().split('\n')).to.have.length(4);
    for (const control of ['\r', '\u001b']) expect(text()).to.not.include(control);
  });
});
