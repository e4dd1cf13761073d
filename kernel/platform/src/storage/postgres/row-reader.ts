/**
 * Rows one by one as the server sends them, so that a read that finds too much ends on the way. Large reads take turns:
 * what all of them hold at once is bounded, and one that waits is not sent more.
 */
import pg from 'pg';
import type { DriverRow } from '../contract/engine.js';
import { bytesOf } from '../contract/row-bytes.js';
import { streamOf } from './silent-connection.js';

/** What is beyond is large. */
const SMALL_BYTES = 4 * 1_048_576;
const LARGE_AT_ONCE = 2;

/** Undefined when the rows are more than `maxBytes`: the connection is then not fit for more. */
export type RowReader = (client: pg.PoolClient, text: string, maxBytes: number) => Promise<DriverRow[] | undefined>;

export const createRowReader = (): RowReader => {
  let large = 0;
  const waiting: Array<() => void> = [];
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else large -= 1;
  };
  /** True when it may go on at once; otherwise `begin` is called later. */
  const enter = (begin: () => void): boolean => {
    if (large < LARGE_AT_ONCE) {
      large += 1;
      return true;
    }
    waiting.push(begin);
    return false;
  };
  return (client, text, maxBytes) =>
    new Promise((resolve, reject) => {
      const rows: DriverRow[] = [];
      let bytes = 0;
      let state: 'small' | 'waiting' | 'large' | 'over' = 'small';
      const stream = streamOf(client);
      const begin = (): void => {
        state = 'large';
        stream?.resume();
      };
      const end = (settle: () => void): void => {
        if (state === 'large') leave();
        if (state === 'waiting') waiting.splice(waiting.indexOf(begin), 1);
        if (state === 'waiting') stream?.resume();
        if (state !== 'over') settle();
        state = 'over';
      };
      const query = new pg.Query<DriverRow>(text);
      query.on('row', (row) => {
        if (state === 'over') return;
        rows.push(row);
        bytes += bytesOf(row);
        if (bytes > maxBytes) end(() => resolve(undefined));
        else if (bytes > SMALL_BYTES && state === 'small') {
          state = enter(begin) ? 'large' : 'waiting';
          if (state === 'waiting') stream?.pause();
        }
      });
      query.once('error', (error) => end(() => reject(error)));
      query.once('end', () => end(() => resolve(rows)));
      client.query(query);
    });
};
