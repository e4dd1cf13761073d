/** Two daemons in one process, each with a home of its own, over one database and one bus: a file and a bus that the test makes, or a PostgreSQL and the bus that comes with it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Reader } from '@svc/api';
import type { InstalledFiles } from '@svc/daemon';
import type { Bus } from '@svc/platform/bus/bus';
import type { TimerClock } from '@svc/platform/clock/clock';
import { createJournal } from '@svc/platform/journal/journal';
import { openStorage } from '@svc/platform/storage/storage';
import { bootTestKernel, OPEN_RATE, type TestKernel } from '@svc/testing';
import { type ProviderServer, type Script, type ScriptedAnswer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { MODEL_KEY, modelConfig } from '../clients/model-kernel.js';

/** Short, so that what a dead daemon held is taken over while a test waits for it, and beats come soon. */
export const SHORT_LEASE_MS = 3_000;

export interface Replica {
  readonly kernel: TestKernel;
  readonly name: string;
  /** From now on it reaches the database no more: it is dead for everybody else, and does not know it. */
  cutOff(): void;
  /** It reaches the database again, as a process that was silent for too long does. */
  cutIn(): void;
}

export interface TwoDaemons {
  readonly a: Replica;
  readonly b: Replica;
  readonly model: ProviderServer;
  /** The agent that is there from the first start. */
  readonly agent: { readonly id: string; readonly session_id: string };
  stop(): Promise<void>;
}

export interface TwoDaemonsOptions {
  /** Undefined where `url` is given, and the bus is the one that daemons on a server have. */
  readonly joinBus?: (name: string) => Bus;
  /** Of a PostgreSQL. */
  readonly url?: string;
  readonly script?: Script | ScriptedAnswer;
  readonly clock?: TimerClock;
  readonly leaseMs?: number;
  readonly config?: string | ((name: string) => string);
  readonly env?: Readonly<Record<string, string>>;
  /** What `http` of both sends, where `config` names people. */
  readonly key?: string;
  readonly extra?: (name: string) => readonly InstalledFiles[];
}

export const bootTwo = async (options: TwoDaemonsOptions): Promise<TwoDaemons> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-two-'));
  const model = await startOpenAiServer(options.script);
  const boot = (name: string) => bootReplica(join(folder, 'svc.db'), name, model.url, options);
  const a = await boot('a');
  const b = await boot('b');
  const { body } = await a.kernel.http.expect(200, 'GET', '/api/agents');
  return {
    a,
    b,
    model,
    agent: body.agents[0],
    stop: async () => {
      a.cutIn();
      b.cutIn();
      await a.kernel.stop();
      await b.kernel.stop();
      await model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const bootReplica = async (file: string, name: string, modelUrl: string, options: TwoDaemonsOptions): Promise<Replica> => {
  const { joinBus } = options;
  let isCutOff = false;
  const guarded = <T>(work: () => Promise<T>): Promise<T> => (isCutOff ? Promise.reject(new Error('the database cannot be reached')) : work());
  const guardReader = (reader: Reader): Reader => ({
    select: (query) => guarded(() => reader.select(query)),
    first: (query) => guarded(() => reader.first(query)),
    count: (table, where) => guarded(() => reader.count(table, where)),
    page: (query) => guarded(() => reader.page(query)),
    read: (sql, args) => guarded(() => reader.read(sql, args)),
    readOne: (sql, args) => guarded(() => reader.readOne(sql, args)),
  });
  const guard = (db: Db): Db => ({
    ...db,
    as: (actor) => guardReader(db.as(actor)),
    system: (why) => guardReader(db.system(why)),
    commit: (writes) => guarded(() => db.commit(writes)),
  });
  const kernel = await bootTestKernel({
    config: `${OPEN_RATE}${typeof options.config === 'function' ? options.config(name) : (options.config ?? '')}\n${modelConfig(modelUrl)}`,
    env: { OPENAI_API_KEY: MODEL_KEY, ...options.env, ...(options.url === undefined ? {} : { SVC__STORAGE__URL: options.url }) },
    stopDrainMs: 500,
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.extra ? { extra: options.extra(name) } : {}),
    factories: {
      ...(joinBus ? { joinBus: () => joinBus(name) } : {}),
      createJournal: (journal) => createJournal({ ...journal, soleWriter: false, ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }) }),
      openStorage: async (storage) => {
        const opened = await openStorage(options.url === undefined ? { ...storage, file } : storage);
        return { ...opened, dbFor: (owner) => guard(opened.dbFor(owner)) };
      },
    },
  });
  return {
    kernel,
    name,
    cutOff: () => {
      isCutOff = true;
    },
    cutIn: () => {
      isCutOff = false;
    },
  };
};

/** What a session holds, oldest first: `user: hello`. */
export const talk = async ({ kernel }: Replica, agentId: string, sessionId?: string): Promise<string[]> => {
  const { body } = await kernel.http.expect(200, 'GET', `/api/agents/${agentId}/session${sessionId === undefined ? '' : `?session_id=${sessionId}`}`);
  return body.messages.map((message: { role: string; content: unknown }) => `${message.role}: ${typeof message.content === 'string' ? message.content : JSON.stringify(message.content)}`);
};

/** Rows of a table, counted past every area. */
export const count = async ({ kernel }: Replica, sql: string): Promise<number> => {
  const db = kernel.daemon.parts.storage.dbFor({ id: 'counting', tables: [], isPlatform: true });
  return (await db.system('a test').readOne<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`))?.n ?? -1;
};

/** A message that the test answers by hand. */
export const latch = () => {
  const waiting: Array<(answer: ScriptedAnswer) => void> = [];
  return {
    script: (() => new Promise<ScriptedAnswer>((resolve) => waiting.push(resolve))) satisfies Script,
    waiting: () => waiting.length,
    answer: (answer: ScriptedAnswer) => waiting.shift()?.(answer),
  };
};
