/** What a thousand reloads of an area leave on the heap. */
import { inRoot } from '../../../build/paths.mjs';
import { runProgram } from '../../bundle.mjs';
import { makeHome } from '../../daemon.mjs';
import { megabytes } from '../../figures.mjs';

const AREA = 'runs';
const TARGET_BYTES = 2 * 1_048_576;

export const run = async ({ isQuick }) => {
  const plan = { id: AREA, warmUp: isQuick ? 20 : 100, reloads: isQuick ? 200 : 1_000 };
  const home = await makeHome('http://127.0.0.1:9');
  try {
    const raw = await runProgram('reload-heap', { ...plan, home: home.home, releaseFile: inRoot('dist/release.json') }, ['--expose-gc']);
    const growth = raw.after - raw.before;
    const row = {
      what: `${plan.reloads.toLocaleString('en')} reloads, heap growth`,
      value: megabytes(growth),
      target: '< 2 MB',
      met: growth < TARGET_BYTES,
      method: `area ${AREA}, after ${plan.warmUp} to warm up, heap after collections`,
    };
    return { rows: [row], raw };
  } finally {
    await home.remove();
  }
};
