/** Several daemons in processes of their own over one PostgreSQL, each by a way of its own that can be cut. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsServer } from '@svc/testing/nats/server';
import { startTcpProxy, type TcpProxy } from '@svc/testing/postgres/tcp-proxy';
import { beginLife, createPlace, type Life, type Place, programOf } from '../crash/daemon-life.js';
import type { PlannedModel } from '../crash/planned-model.js';

/** Short, so that what a dead daemon held is taken over while a test waits for it. */
export const LEASE_MS = 3_000;

export interface Member {
  readonly name: string;
  readonly place: Place;
  readonly way: TcpProxy;
  /** To the NATS server, where there is one. */
  readonly busWay?: TcpProxy;
  /** The life that is on; after an end the last one. */
  life: Life;
  lives: number;
}

export interface Fleet {
  readonly members: readonly Member[];
  /** The place of the first: database and effects are those of all. */
  readonly place: Place;
  readonly nats?: NatsServer;
  close(): Promise<void>;
}

/** Each is ready when the next one starts. */
export const startFleet = async (model: Pick<PlannedModel, 'url'>, databaseUrl: string, size: number, nats?: NatsServer): Promise<Fleet> => {
  const effects = mkdtempSync(join(tmpdir(), 'svc-effects-'));
  const members: Member[] = [];
  const close = async (): Promise<void> => {
    for (const { busWay, life, place, way } of members) {
      life.signal('SIGCONT');
      life.kill();
      await life.gone;
      await way.close();
      await busWay?.close();
      place.clean();
    }
    rmSync(effects, { recursive: true, force: true });
  };
  for (let index = 0; index < size; index += 1) {
    const way = await startTcpProxy(Number(new URL(databaseUrl).port));
    const busWay = nats && (await startTcpProxy(nats.port));
    const place = await createPlace(model.url, '', {
      ...{ url: way.through(databaseUrl), directUrl: databaseUrl, effects, leaseMs: LEASE_MS, program: programOf('reliability') },
      ...(nats && busWay ? { bus: busWay.through(nats.url) } : {}),
    });
    const member: Member = { name: `daemon ${index + 1}`, place, way, ...(busWay ? { busWay } : {}), life: beginLife(place, 1), lives: 1 };
    members.push(member);
    await urlOf(member).catch((error: unknown) => close().then(() => Promise.reject(error)));
  }
  const [first] = members;
  if (!first) throw new Error('A fleet has one member at least.');
  return {
    members,
    place: first.place,
    ...(nats ? { nats } : {}),
    close,
  };
};

/** Of a daemon that has to come up. */
export const urlOf = async (member: Member): Promise<string> => {
  const url = await member.life.url;
  if (url === undefined) throw new Error(`${member.name} did not start: ${(await member.life.gone).errors}`);
  return url;
};

/** The next life of a member, in the same home. */
export const startAgain = async (member: Member): Promise<void> => {
  await member.life.gone;
  member.lives += 1;
  member.life = beginLife(member.place, member.lives);
  await urlOf(member);
};
