/** `svc status` against a running daemon, beside `node -e 0`. */
import { inRoot } from '../../build/paths.mjs';
import { makeHome, startDaemon } from '../daemon.mjs';
import { median, milliseconds, times } from '../figures.mjs';
import { startNode, timeOfNode } from '../processes.mjs';

const LIMIT = 1.8;

const statusMs = async (home) => {
  const begun = performance.now();
  const code = await startNode([inRoot('kernel/cli/bin/svc.mjs'), 'status'], { env: home.env }).ended;
  if (code !== 0) throw new Error(`svc status ended with ${code}`);
  return performance.now() - begun;
};

export const run = async ({ isQuick }) => {
  const rounds = isQuick ? 7 : 21;
  const home = await makeHome('http://127.0.0.1:9');
  const daemon = await startDaemon(home);
  const raw = { node: [], status: [] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      raw.node.push(await timeOfNode(['-e', '0']));
      raw.status.push(await statusMs(home));
    }
  } finally {
    await daemon.stop();
    await home.remove();
  }
  const node = median(raw.node);
  const status = median(raw.status);
  const row = {
    what: '`svc status` against a running daemon',
    value: milliseconds(status),
    floor: milliseconds(node),
    ratio: times(status / node),
    target: `≤ ${LIMIT} ×`,
    met: status / node <= LIMIT,
    method: `median of ${rounds}, each beside one \`node -e 0\``,
  };
  return { rows: [row], raw };
};
