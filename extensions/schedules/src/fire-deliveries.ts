/** Where the answers of fires went. */
import { type Db, idGroups } from '@svc/api';
import type { FireDeliveryRow, FireRow } from './contract.js';

/** By fire, in the order in which the job names the places. */
export const deliveriesOfFires = async (reader: ReturnType<Db['as']>, fires: ReadonlyArray<Pick<FireRow, 'id'>>): Promise<ReadonlyMap<string, readonly FireDeliveryRow[]>> => {
  const order = [{ column: 'position' }] as const;
  const found = await Promise.all(idGroups(fires.map(({ id }) => id)).map((group) => reader.select<FireDeliveryRow>({ from: 'fire_deliveries', where: { fire_id: group }, order, limit: MOST })));
  const byFire = new Map<string, FireDeliveryRow[]>();
  for (const row of found.flat()) byFire.set(row.fire_id, [...(byFire.get(row.fire_id) ?? []), row]);
  return byFire;
};

/** A job has eleven places at most. */
const MOST = 10_000;
