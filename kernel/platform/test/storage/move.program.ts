/** One life of a move, which is killed at a numbered point. */
import { move, type Place } from './move-world.js';

const { from, point, to } = JSON.parse(process.argv[2] ?? '') as { from: Place; to: Place; point: number }; // of move.test.ts
let steps = 0;
await move(from, to, {
  onProgress: () => {
    steps += 1;
    if (steps === point) process.kill(process.pid, 'SIGKILL');
  },
});
