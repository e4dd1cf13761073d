/** `svc status` against a running daemon, beside `node -e 0`. */
import { inRoot } from '../../../build/paths.mjs';
import { makeHome, startDaemon } from '../../daemon.mjs';
import { milliseconds } from '../../figures.mjs';
import { timeOfNode } from '../../processes.mjs';
import { ratioRow } from '../../ratios.mjs';

const LIMIT = 1.8;

export const run = async ({ isQuick }) => {
  const rounds = isQuick ? 7 : 21;
  const home = await makeHome('http://127.0.0.1:9');
  const daemon = await startDaemon(home);
  const raw = { node: [], status: [] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      raw.node.push(await timeOfNode(['-e', '0']));
      raw.status.push(await timeOfNode([inRoot('kernel/cli/bin/svc.mjs'), 'status'], { env: home.env }));
    }
  } finally {
    await daemon.stop();
    await home.remove();
  }
  const row = ratioRow({
    what: '`svc status` against a running daemon',
    product: raw.status,
    floor: raw.node,
    show: milliseconds,
    better: 'lower',
    limit: LIMIT,
    method: `median of ${rounds}, each beside one \`node -e 0\``,
  });
  return { rows: [row], raw };
};
